#pragma once
// Answers requests from the output cache without JavaScript.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cache/freshness.h"
#include "cache/request_facts.h"
#include "engine/cache/cache_reader.h"
#include "engine/cache/captures.h"
#include "engine/cache/compressor.h"
#include "engine/cache/entry_answer.h"
#include "engine/cache/refreshes.h"
#include "engine/cache/shared_bodies.h"
#include "engine/cache/waiting_misses.h"
#include "engine/connection/connection.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/static_requests.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Thread: the lane.
class CachedAnswers {
 public:
  using Outcome = StaticRequests::Outcome;

  CachedAnswers(ProcessCache* cache, const http1::MethodTable* methods, NativeAnswers* answers,
                Captures* captures, WaitingMisses* waiting, Refreshes* refreshes,
                Compressor* compressor);
  CachedAnswers(const CachedAnswers&) = delete;
  CachedAnswers& operator=(const CachedAnswers&) = delete;

  // Answers a request for a prefix of the connection's server, which may get it, if an entry may
  // answer. With kNone the request goes to JavaScript. `closes` is as in NativeAnswer.
  // `head_number` is 0, or one that only heads of the same bytes have.
  Outcome Answer(AnswerWriter* writer, Connection* connection, const http1::RequestHead& head,
                 uint32_t prefix_id, bool closes, uint64_t head_number = 0) {
    const CacheTerms* const terms = connection->server()->config->cache();
    if (terms == nullptr) return Outcome::kNone;
    if (head_number != 0 && head_number == given_.head_number) {
      const Given same{head_number, answers_->BatchOf(connection), connection, terms, prefix_id,
                       closes};
      if (given_ == same && given_.batch != 0) return GiveAgain(writer, connection, head);
    }
    const bool is_refused = !captures_->refused().empty() && IsRefused(connection, head, prefix_id);
    if (is_refused) return Outcome::kNone;
    given_ = {};
    const Outcome outcome = LookUp(writer, connection, head, prefix_id, closes);
    if (may_repeat_ && outcome == Outcome::kGiven) {
      given_ = {head_number, answers_->BatchOf(connection), connection, terms, prefix_id, closes};
    }
    return outcome;
  }
  // Returns the head that JavaScript gets for the request that Answer() was called with last: with
  // the validators of what is stored, if JavaScript is asked about that.
  const http1::RequestHead& HeadFor(const Connection* connection,
                                    const http1::RequestHead& head) const {
    const bool is_asked_about =
        asks_about_entry_ && connection->server()->config->cache() != nullptr;
    return is_asked_about ? question_ : head;
  }
  // The request that Answer() was called with last was given to JavaScript.
  void OnDelivered(const Connection* connection) {
    if (connection->server()->config->cache() == nullptr) return;
    if (pending_ == nullptr && !captures_->is_active()) return;
    captures_->Add(connection, std::move(pending_));
  }

 private:
  // One request.
  struct Asked {
    AnswerWriter* writer;
    Connection* connection;
    const http1::RequestHead& head;
    const CacheTerms& terms;
    cache::RequestFacts facts;
    bool is_secure;
    uint32_t prefix_id;
    uint32_t scope;
    bool closes;
  };

  // Returns true if the responses of the target are known to be refused: the cost of a cache for a
  // server whose responses say nothing of caches. The request is counted as a miss then.
  bool IsRefused(const Connection* connection, const http1::RequestHead& head, uint32_t prefix_id);
  void DropPending();
  Outcome LookUp(AnswerWriter* writer, Connection* connection, const http1::RequestHead& head,
                 uint32_t prefix_id, bool closes);
  // The hash of a target whose responses may be known to be refused, or 0 if the request concerns
  // more of the cache than the entries of its target.
  uint64_t HashIfPlain(const Connection* connection, const http1::RequestHead& head,
                       const CacheTerms& terms, uint32_t prefix_id) const;
  Outcome LookUpKey(const Asked& asked);
  // The request that got the answer which answer_ still has. The same request gets that once more
  // while the answer waits for others of its read: nobody can tell that the cache has changed
  // meanwhile. The entry is in the memory of reader_ until then.
  struct Given {
    uint64_t head_number = 0;  // 0 = there is no such answer.
    uint64_t batch = 0;        // NativeAnswers::BatchOf().
    const Connection* connection = nullptr;
    const CacheTerms* terms = nullptr;
    uint32_t prefix_id = 0;
    bool closes = false;

    bool operator==(const Given&) const = default;
  };
  Outcome GiveAgain(AnswerWriter* writer, Connection* connection, const http1::RequestHead& head);

  // True if the responses of the URL vary, so that key_ is the key of a variant.
  bool is_variant() const { return key_.size() != url_key_bytes_; }
  // Looks for the variant of an entry that the client gets, if there is one. An entry that is used
  // again gets one.
  bool FindVariant(const Asked& asked, const cache::FoundEntry& found, bool is_fresh,
                   std::optional<cache::FoundEntry>* coded);
  // Has the stale entry refreshed that was found last, if this is possible and not being done.
  void Refresh(const Asked& asked);
  // `found` is an entry that must not answer by itself; nullptr = there is none.
  Outcome Miss(const Asked& asked, const cache::FoundEntry* found,
               const cache::Judgement& judgement);
  Outcome Bypass(const Asked& asked, cache::Refusal refusal, std::string_view forward);
  bool IsGood(const Asked& asked, const cache::FoundEntry& found) const;
  void AskAbout(const Asked& asked, const cache::FoundEntry& found,
                const cache::Judgement& judgement, CacheExchange* exchange);
  Outcome Give(const Asked& asked, const cache::FoundEntry& found,
               const cache::Judgement& judgement);
  Outcome GiveUnsatisfied(const Asked& asked);
  Outcome Send(const Asked& asked);
  // `forward` is the parameter of Cache-Status that says why JavaScript is asked.
  std::unique_ptr<CacheExchange> NewExchange(const Asked& asked, std::string_view forward) const;

  ProcessCache* cache_;
  const http1::MethodTable* methods_;
  const uint16_t get_method_;
  NativeAnswers* answers_;
  Captures* captures_;
  WaitingMisses* waiting_;
  Refreshes* refreshes_;
  Compressor* compressor_;
  CacheReader reader_;
  EntryAnswer answer_;
  SharedBodies bodies_;
  Given given_;
  bool may_repeat_ = false;     // The answer that was made last may be given again.
  uint32_t given_slot_at_ = 0;  // The place of its entry, for CacheReader::NoteHit().
  cache::Slot given_slot_;
  std::string key_;
  size_t url_key_bytes_ = 0;      // Length of the URL's key, with which key_ begins.
  uint64_t target_hash_ = 0;      // Of the target, for Captures::refused(), or 0.
  ProcessCache::StoreMark mark_;  // Of the URL, from before the look-up.
  std::string status_text_;       // The value of Cache-Status that is being made.
  // What the answer to the request that was looked up last does to the cache.
  std::unique_ptr<CacheExchange> pending_;
  // The head that JavaScript gets, whose views are those of the request and of pending_.
  http1::RequestHead question_;
  bool asks_about_entry_ = false;
};

}  // namespace httpsys::engine
