#pragma once
// The requests that JavaScript was given and whose answers concern the cache.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/cache/capture.h"
#include "engine/cache/refused_targets.h"
#include "engine/cache/substitute_replies.h"
#include "engine/cache/waiting_misses.h"
#include "engine/connection/connection.h"
#include "engine/connection/output_pass.h"
#include "engine/requests/withdrawals.h"
#include "records/replies.h"

namespace httpsys::engine {

// An entry that JavaScript is asked about, and that answers if it says by a 304 that the entry is
// still good, or fails.
struct StoredCopy {
  // `bytes` were taken by ProcessCache::TakeCaptureBytes().
  StoredCopy(ProcessCache* cache, uint64_t bytes) : cache_(cache), taken_bytes_(bytes) {}
  ~StoredCopy() { cache_->ReturnCaptureBytes(taken_bytes_); }
  StoredCopy(const StoredCopy&) = delete;
  StoredCopy& operator=(const StoredCopy&) = delete;

  uint16_t status = 0;
  std::string head;
  std::string body;
  cache::EntryTerms terms;
  bool is_stale = false;
  bool may_answer_errors = false;
  // JavaScript was given the validators of the entry instead of those of the client.
  bool is_asked_about = false;

 private:
  ProcessCache* cache_;
  uint64_t taken_bytes_;
};

// What the answer to one request does to the cache.
struct CacheExchange {
  // Not nullptr: the answer may be stored.
  std::unique_ptr<Capture> capture;
  // The request is unsafe, and makes entries obsolete; `key` is that of its URL.
  bool is_unsafe = false;
  std::shared_ptr<const CacheTerms> terms;
  uint32_t scope = 0;
  bool is_secure = false;
  // Not nullptr: what is stored may answer in place of JavaScript.
  std::unique_ptr<StoredCopy> stored;
  // The request has no client: nothing is sent.
  bool is_background = false;
  // The client has its answer from what is stored: the rest of JavaScript's goes nowhere.
  bool is_answered = false;
  bool is_begun = false;  // The final head of JavaScript's response has come, or cannot be found.
  std::string status;     // The beginning of Cache-Status; empty = the answer has no such field.
  // Other requests wait for the answer, under `key` with this hash.
  bool leads = false;
  // They may wait from the head of the answer on, if that says that the answer may be stored.
  bool may_lead_late = false;
  const Connection* connection = nullptr;  // That of the request, if it leads.
  bool is_decided = false;                 // It is known, also to them, what becomes of it.
  bool has_failed = false;                 // The answer is a failure of the application.
  std::string key;
  uint64_t hash = 0;
  // Not 0: nothing was found under the key of the URL, and RefusedTargets hears of the answer.
  uint64_t target_hash = 0;
  ProcessCache::StoreMark mark;  // From before the look-up.
};

// Sees each reply record before it is handled, so that a response is in the cache before its last
// bytes leave. Thread: the lane.
class Captures final : public Withdrawals {
 public:
  // What becomes of a reply record.
  enum class Pass : uint8_t {
    kAsIs,     // It is handled.
    kInstead,  // Another one is handled.
    kBefore,   // Another one is handled before it, or before what is left of it.
    kDropped,  // It was for the cache alone.
  };

  Captures(ProcessCache* cache, WaitingMisses* waiting, OutputPass* output)
      : cache_(cache), waiting_(waiting), output_(output), refused_(cache) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // JavaScript was given a request, the newest one of the connection or stream. nullptr = its
  // answer does not concern the cache.
  void Add(const Connection* connection, std::unique_ptr<CacheExchange> exchange);
  // What the answers say of their targets.
  const RefusedTargets& refused() const { return refused_; }
  // False if no answer is awaited that concerns the cache.
  bool is_active() const { return !exchanges_.empty(); }
  // Sees a record before it is handled. `other` is set with kInstead and kBefore.
  Pass OnReply(Connection* connection, const ReplyRecord& reply, ReplyRecord* other);
  // The records of a pass have been handled, and their output sent or copied.
  void EndPass() { substitutes_.EndPass(); }
  void OnDetached(const Connection* connection);

  // -- Withdrawals.

  void OnTakenBack(const Connection* connection) override;
  void OnRefused(const Connection* connection) override { OnDetached(connection); }

 private:
  // The unanswered requests of one connection, from the oldest one on; nullptr as for Add().
  using Exchanges = std::deque<std::unique_ptr<CacheExchange>>;

  Pass OnOutput(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply,
                ReplyRecord* other);
  Pass OnDestroy(Connection* connection, const ReplyRecord& reply, ReplyRecord* other);
  void Take(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply);
  void NoteTarget(CacheExchange* exchange);
  void LeadLate(const Connection* connection, CacheExchange* exchange);
  void DropSuperseded(CacheExchange* exchange);
  // Answers with what is stored, if `text`, the head of JavaScript's response, says so.
  bool AnswerStored(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply,
                    std::string_view text, ReplyRecord* other);
  uint32_t Confirm(CacheExchange* exchange, std::string_view text, const cache::Received& now);
  Pass Swallow(Connection* connection, const ReplyRecord& reply, bool closes, ReplyRecord* other);
  // The text of a record that begins a response, as far as a head may be in it.
  static std::string_view TextIn(Connection* connection, const ReplyRecord& reply);
  static FoundHead HeadIn(Connection* connection, CacheExchange* exchange,
                          const ReplyRecord& reply);
  // Adds the fields of the cache to the head of JavaScript's response, which `reply` has.
  Pass AddFields(Connection* connection, const CacheExchange& exchange, const ReplyRecord& reply,
                 const FoundHead& found, ReplyRecord* other);
  void OnBlock(Connection* connection, Capture* capture, const ReplyRecord& reply);
  void Invalidate(CacheExchange* exchange, const ReplyRecord& reply, std::string_view text);
  void DropUrl(const CacheExchange& exchange, std::string_view reference);
  void InvalidateKey(const CacheExchange& exchange, std::string_view key);
  // Tells those that wait, once it is known what becomes of the answer.
  void Decide(CacheExchange* exchange);
  void Lose(CacheExchange* exchange);
  void LoseAll(Exchanges* exchanges);

  ProcessCache* cache_;
  WaitingMisses* waiting_;
  OutputPass* output_;
  SubstituteReplies substitutes_;
  RefusedTargets refused_;
  std::string head_;  // Of an entry that is being confirmed.
  std::unordered_map<const Connection*, Exchanges> exchanges_;
};

}  // namespace httpsys::engine
