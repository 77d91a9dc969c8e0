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
#include "engine/cache/send_entry.h"
#include "engine/cache/waiting_misses.h"
#include "engine/connection/connection.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/static_requests.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Looks up requests of one lane, and answers those for which an entry may answer. Thread: the lane.
class CachedAnswers {
 public:
  CachedAnswers(ProcessCache* cache, const http1::MethodTable* methods, NativeAnswers* answers,
                Captures* captures, WaitingMisses* waiting, Refreshes* refreshes,
                Compressor* compressor);
  CachedAnswers& operator=(CachedAnswers&&) = delete;

  // Answers a request of the connection's server from an entry, if an entry may answer it. With
  // kLater it may wait for the answer to another request, and is resumed then.
  AnswerOutcome Answer(const ArrivedRequest& request) {
    const CacheTerms* const terms = request.connection->server()->config->cache();
    if (terms == nullptr) return AnswerOutcome::kNone;
    if (request.head_number != 0 && request.head_number == given_.head_number) {
      if (given_ == GivenFor(request, terms) && given_.batch != 0) return GiveAgain(request);
    }
    if (!captures_->refused().empty() && IsRefused(request)) return AnswerOutcome::kNone;
    given_ = {};
    const AnswerOutcome outcome = LookUp(request);
    if (may_repeat_ && outcome == AnswerOutcome::kGiven) given_ = GivenFor(request, terms);
    return outcome;
  }
  // Returns the head that JavaScript gets for the request of the last Answer(). If JavaScript shall
  // confirm an entry, this head has the validators of the entry.
  const http1::RequestHead& HeadFor(const Connection* connection,
                                    const http1::RequestHead& head) const {
    const bool is_asked_about =
        asks_about_entry_ && connection->server()->config->cache() != nullptr;
    return is_asked_about ? question_ : head;
  }
  // Must be called when the request of the last Answer() was given to JavaScript; afterwards
  // Captures watches its answer.
  void OnDelivered(const Connection* connection) {
    if (connection->server()->config->cache() == nullptr) return;
    if (pending_ == nullptr && !captures_->is_active()) return;
    captures_->Add(connection, std::move(pending_));
  }

 private:
  // The request that is being looked up, and facts about it.
  struct Asked {
    const ArrivedRequest& request;
    const CacheTerms& terms;
    cache::RequestFacts facts;
    bool is_secure;
    uint32_t scope;

    AskedEntry entry() const {
      return {&request.head, facts.method == cache::MethodKind::kHead, request.closes};
    }
  };

  // If the last responses of the target were refused again and again (RefusedTargets), counts a
  // miss and returns true: no look-up is needed. Servers whose responses say nothing about caches
  // then pay next to nothing for their cache.
  bool IsRefused(const ArrivedRequest& request);
  void DropPending();
  AnswerOutcome LookUp(const ArrivedRequest& request);
  // Returns the hash of the request's target for RefusedTargets, or 0 if the request needs a
  // look-up whatever RefusedTargets knows.
  uint64_t HashIfPlain(const ArrivedRequest& request, const CacheTerms& terms) const;
  AnswerOutcome LookUpKey(const Asked& asked);
  // The last request that was answered from an entry, while its answer is in answer_. An equal
  // request of the same read gets that answer again as long as the answers of the read have not
  // left: no client can tell that the cache has changed meanwhile. Until then the entry stays in
  // the memory of reader_.
  struct Given {
    uint64_t head_number = 0;  // 0 = there is no such answer.
    uint64_t batch = 0;        // NativeAnswers::BatchOf().
    const Connection* connection = nullptr;
    const CacheTerms* terms = nullptr;
    uint32_t prefix_id = 0;
    bool closes = false;

    bool operator==(const Given&) const = default;
  };
  Given GivenFor(const ArrivedRequest& request, const CacheTerms* terms) const {
    return {request.head_number, answers_->BatchOf(request.connection),
            request.connection,  terms,
            request.route.id,    request.closes};
  }
  AnswerOutcome GiveAgain(const ArrivedRequest& request);

  bool is_variant() const { return key_.size() != url_key_bytes_; }
  // Returns true and sets `coded` if `found` has a compressed variant that the client may get. If
  // the variant is missing and a fresh entry is used again, orders the variant.
  bool FindVariant(const Asked& asked, const cache::FoundEntry& found, bool is_fresh,
                   std::optional<cache::FoundEntry>* coded);
  // Starts a refresh of the last found stale entry, if possible, unless one is under way.
  void Refresh(const Asked& asked);
  // Handles a request that no entry may answer without JavaScript. `found` is the entry about which
  // JavaScript must be asked; nullptr = there is none.
  AnswerOutcome Miss(const Asked& asked, const cache::FoundEntry* found,
                     const cache::Judgement& judgement);
  AnswerOutcome Bypass(const Asked& asked, cache::Refusal refusal, std::string_view forward);
  bool IsGood(const Asked& asked, const cache::FoundEntry& found) const;
  void AskAbout(const Asked& asked, const cache::FoundEntry& found,
                const cache::Judgement& judgement, CacheExchange* exchange);
  AnswerOutcome Give(const Asked& asked, const cache::FoundEntry& found,
                     const cache::Judgement& judgement);
  AnswerOutcome GiveUnsatisfied(const Asked& asked);
  AnswerOutcome Send(const Asked& asked);
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
  bool may_repeat_ = false;     // True if the answer in answer_ may be given again.
  uint32_t given_slot_at_ = 0;  // Slot of the entry of given_, for NoteHit().
  cache::Slot given_slot_;
  std::string key_;
  size_t url_key_bytes_ = 0;      // Length of the URL's key, with which key_ begins.
  uint64_t target_hash_ = 0;      // Hash for Captures::refused(); 0 = none.
  ProcessCache::StoreMark mark_;  // The number of stores of the URL before the look-up.
  std::string status_text_;       // The value of Cache-Status, while it is being made.
  // How JavaScript's answer to the request of the last look-up will affect the cache.
  std::unique_ptr<CacheExchange> pending_;
  // The head for JavaScript if asks_about_entry_. It views the request and pending_.
  http1::RequestHead question_;
  bool asks_about_entry_ = false;
};

}  // namespace httpsys::engine
