#pragma once
// A request that was given to JavaScript, and the capture of its response for the cache.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/coding_policy.h"
#include "cache/request_facts.h"
#include "cache/response_facts.h"
#include "cache/store_policy.h"
#include "engine/cache/process_cache.h"
#include "engine/config/cache_terms.h"
#include "http1/request_parser.h"
#include "http2/response_text.h"

namespace httpsys::engine {

// Counts one response while it is being captured (ProcessCache::must_invalidate()): from its
// construction until the response is stored or can no longer be. Thread: any.
class CaptureCount {
 public:
  explicit CaptureCount(std::atomic<uint64_t>* captures) : captures_(captures) {
    captures_->fetch_add(1, std::memory_order_relaxed);
  }
  ~CaptureCount() { captures_->fetch_sub(1, std::memory_order_release); }
  CaptureCount& operator=(CaptureCount&&) = delete;

 private:
  std::atomic<uint64_t>* const captures_;
};

// Copy of a captured request: the received bytes are gone when the answer comes.
class CapturedRequest {
 public:
  CapturedRequest(const http1::RequestHead& head, const cache::RequestFacts& facts,
                  std::string key);
  CapturedRequest& operator=(CapturedRequest&&) = delete;

  const cache::RequestFacts& facts() const { return facts_; }
  // The cache key of the URL.
  const std::string& key() const { return key_; }
  // The copied method, version, target, host and lines; the other members have their defaults.
  const http1::RequestHead& head() const { return head_; }

 private:
  std::string text_;
  std::string key_;
  http1::RequestHead head_;
  cache::RequestFacts facts_;
};

// Captures one response from the reply records of JavaScript. Thread: the lane.
class Capture {
 public:
  enum class State : uint8_t {
    kBeforeHead,
    kCapturing,  // The response will be stored if its rest matches its head.
    kRefused,    // The response is not stored; refusal() says why.
    kStored,
  };

  Capture(std::unique_ptr<CapturedRequest> request, std::shared_ptr<const CacheTerms> terms,
          ProcessCache* cache);
  ~Capture();
  Capture& operator=(Capture&&) = delete;

  const CapturedRequest& request() const { return *request_; }
  const CacheTerms& terms() const { return *terms_; }
  State state() const { return state_; }
  // Why the response is not stored; valid in kRefused.
  cache::Refusal refusal() const { return refusal_; }
  // True if the response is an entry, or will be, whose answers get `Vary: Accept-Encoding`.
  bool varies_by_coding() const {
    return state_ != State::kRefused && entry_terms_.Has(cache::EntryTerms::kVariesByCoding);
  }
  // The status of the response; 0 before its head.
  uint16_t status() const { return status_; }

  // Must be called before the head if a stored entry may still answer: then a failure of the
  // application (5xx) does not replace that entry.
  void KeepEntry() { keeps_entry_ = true; }
  // Sets the application's cache policy for this response; it must come before the head.
  void SetPolicy(const cache::ResponsePolicy& policy) { policy_ = policy; }
  // OnText() takes bytes of the response as the application framed them, OnBody() bytes of the body
  // without framing. `is_all`: the response ends with this text.
  void OnText(std::string_view text, bool is_all, const cache::Received& now);
  void OnBody(std::string_view bytes);
  // Gives up storing the response, and frees what was captured.
  void Refuse(cache::Refusal refusal);
  // Handles a 304 that confirms a stored response: stores the response again with its updated head
  // `head`, or drops it if that is not storable. `age_s` is the age of the 304. Returns the age of
  // the response in seconds.
  uint32_t OnConfirmed(uint16_t status, std::string_view head, std::string_view body,
                       uint32_t age_s, const cache::Received& now);
  // Must be called when the response has ended; stores it if it is complete. `is_said` is true if
  // the application itself has ended the response.
  void OnEnd(const cache::Received& now, bool is_said);

 private:
  void OnHead(std::string_view text, bool is_all, const cache::Received& now);
  void Append(std::string_view bytes);
  // Notes which compressed variants the response may get.
  void SetCodings(std::span<const http1::HeaderLine> lines, uint64_t body_bytes);
  // Stores an entry, or refuses it.
  void Store(std::string_view head, std::string_view body, const cache::Received& now);

  std::unique_ptr<CapturedRequest> request_;
  std::shared_ptr<const CacheTerms> terms_;
  ProcessCache* cache_;
  const CaptureCount count_;  // Must be constructed before `mark_` is taken.
  const ProcessCache::Mark mark_;
  cache::ResponsePolicy policy_;
  State state_ = State::kBeforeHead;
  cache::Refusal refusal_ = cache::Refusal::kNone;
  uint16_t status_ = 0;
  bool keeps_entry_ = false;
  bool has_length_ = false;
  bool is_bodiless_ = false;  // The status allows no body.
  uint64_t length_ = 0;       // Content-Length. Valid with has_length_.
  uint64_t taken_bytes_ = 0;  // Bytes that TakeCaptureBytes() has granted.
  cache::EntryTerms entry_terms_;
  cache::VaryNames vary_;
  std::string head_;  // In the form that stored_head.h describes.
  std::string body_;
  http2::ResponseText framing_;
};

}  // namespace httpsys::engine
