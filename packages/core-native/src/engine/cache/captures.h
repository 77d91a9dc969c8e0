#pragma once
// Tracks requests that were given to JavaScript and whose answers concern the cache.

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

// Copy of an entry that JavaScript is asked to confirm. The copy answers the client if JavaScript
// answers 304 (the entry is still good) or fails.
struct StoredCopy {
  // ProcessCache::TakeCaptureBytes() must have granted `bytes`.
  StoredCopy(ProcessCache* cache, uint64_t bytes) : cache_(cache), taken_bytes_(bytes) {}
  ~StoredCopy() { cache_->ReturnCaptureBytes(taken_bytes_); }
  StoredCopy& operator=(StoredCopy&&) = delete;

  uint16_t status = 0;
  std::string head;
  std::string body;
  cache::EntryTerms terms;
  bool is_stale = false;
  bool may_answer_errors = false;
  // True if JavaScript got the validators of the entry instead of the client's.
  bool is_asked_about = false;

 private:
  ProcessCache* cache_;
  uint64_t taken_bytes_;
};

// How the answer to one request affects the cache.
struct CacheExchange {
  // Captures the answer; nullptr = the answer must not be stored.
  std::unique_ptr<Capture> capture;
  // True if the request is unsafe (such as POST) and may invalidate the entries of its URL, `key`.
  bool is_unsafe = false;
  std::shared_ptr<const CacheTerms> terms;
  uint32_t scope = 0;
  bool is_secure = false;
  // The entry that may answer instead of JavaScript; nullptr = none.
  std::unique_ptr<StoredCopy> stored;
  // True for a request of the cache itself: it has no client, so nothing is sent.
  bool is_background = false;
  // True once `stored` has answered the client: the rest of JavaScript's answer is discarded.
  bool is_answered = false;
  bool is_begun = false;  // The final head of JavaScript's response has come, or cannot be found.
  std::string status;     // The beginning of Cache-Status; empty = the answer has no such field.
  // True if other requests, under `key` and `hash`, wait for the answer.
  bool leads = false;
  // True if others may begin to wait once the answer's head shows that it may be stored.
  bool may_lead_late = false;
  const Connection* connection = nullptr;  // Connection of the leading request.
  // True once the effect of the answer on the cache is settled and known to the waiting requests.
  bool is_decided = false;
  bool has_failed = false;  // The application has failed.
  std::string key;
  uint64_t hash = 0;
  // Hash under which RefusedTargets notes the answer; 0 if something was stored for the URL.
  uint64_t target_hash = 0;
  ProcessCache::StoreMark mark;  // The number of stores of the URL before the look-up.
};

// Processes each reply record before it is handled, so that a response is in the cache before its
// last bytes are sent. Thread: the lane.
class Captures final : public Withdrawals {
 public:
  // How the caller must handle a reply record.
  enum class Pass : uint8_t {
    kAsIs,     // Handle the record unchanged.
    kInstead,  // Handle `other` instead.
    kBefore,   // Handle `other` first, then the rest of the record.
    kDropped,  // Ignore the record: it was for the cache alone.
  };

  Captures(ProcessCache* cache, WaitingMisses* waiting, OutputPass* output)
      : cache_(cache), waiting_(waiting), output_(output), refused_(cache) {}
  Captures& operator=(Captures&&) = delete;

  // Must be called when JavaScript has got a request, the newest one of the connection or stream.
  // `exchange` is nullptr if the answer does not concern the cache.
  void Add(const Connection* connection, std::unique_ptr<CacheExchange> exchange);
  // Targets whose answers were refused again and again.
  const RefusedTargets& refused() const { return refused_; }
  // True if JavaScript still owes an answer that concerns the cache.
  bool is_active() const { return !exchanges_.empty(); }
  // Must be called with each record before it is handled. Sets `other` with kInstead and kBefore.
  Pass OnReply(Connection* connection, const ReplyRecord& reply, ReplyRecord* other);
  // Must be called when the records of a pass were handled and their output was sent or copied.
  // Frees the texts of records in `other`.
  void EndPass() { substitutes_.EndPass(); }
  void OnDetached(const Connection* connection);

  // -- Withdrawals.

  void OnTakenBack(const Connection* connection) override;
  void OnRefused(const Connection* connection) override { OnDetached(connection); }

 private:
  // Unanswered requests of one connection, oldest first; nullptr = not relevant for the cache.
  using Exchanges = std::deque<std::unique_ptr<CacheExchange>>;

  Pass OnOutput(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply,
                ReplyRecord* other);
  Pass OnDestroy(Connection* connection, const ReplyRecord& reply, ReplyRecord* other);
  void Take(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply);
  void NoteTarget(CacheExchange* exchange);
  void LeadLate(const Connection* connection, CacheExchange* exchange);
  void DropSuperseded(CacheExchange* exchange);
  // If the head of JavaScript's response, `text`, is a 304 or a failure for which the stored entry
  // may answer, sets `other` to the entry's answer and returns true; returns false otherwise.
  bool AnswerStored(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply,
                    std::string_view text, ReplyRecord* other);
  uint32_t Confirm(CacheExchange* exchange, std::string_view text, const cache::Received& now);
  Pass Swallow(Connection* connection, const ReplyRecord& reply, bool closes, ReplyRecord* other);
  // Returns the text of a record in which the head of a response may be; empty if it has none.
  static std::string_view TextIn(Connection* connection, const ReplyRecord& reply);
  static FoundHead HeadIn(Connection* connection, CacheExchange* exchange,
                          const ReplyRecord& reply);
  // Adds the cache's fields (Vary, Cache-Status) to the head of JavaScript's response in `reply`.
  Pass AddFields(Connection* connection, const CacheExchange& exchange, const ReplyRecord& reply,
                 const FoundHead& found, ReplyRecord* other);
  void OnBlock(Connection* connection, Capture* capture, const ReplyRecord& reply);
  void Invalidate(CacheExchange* exchange, const ReplyRecord& reply, std::string_view text);
  void DropUrl(const CacheExchange& exchange, std::string_view reference);
  void InvalidateKey(const CacheExchange& exchange, std::string_view key);
  // Informs the waiting requests once the answer is stored or refused.
  void Decide(CacheExchange* exchange);
  void Lose(CacheExchange* exchange);
  void LoseAll(Exchanges* exchanges);

  ProcessCache* cache_;
  WaitingMisses* waiting_;
  OutputPass* output_;
  SubstituteReplies substitutes_;
  RefusedTargets refused_;
  std::string head_;  // Updated head of the entry that a 304 confirms.
  std::unordered_map<const Connection*, Exchanges> exchanges_;
};

}  // namespace httpsys::engine
