#include "engine/cache/capture.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "engine/cache/stored_head.h"

namespace httpsys::engine {
namespace {

using cache::Refusal;
using http2::ResponseText;

// The memory of captures is counted in multiples of this size.
constexpr uint64_t kPieceBytes = 64 * 1024;

// True if a header line of a 200 response may affect its lifetime or why it is not stored.
bool ConcernsCaches(std::string_view line) {
  switch (line.empty() ? '\0' : LowerCase(line.front())) {
    case 'c':
      return StartsIgnoringCase(line, "cache-control") ||
             StartsIgnoringCase(line, "cdn-cache-control");
    case 'e':
      return StartsIgnoringCase(line, "expires");
    case 's':
      return StartsIgnoringCase(line, "set-cookie");
    case 'v':
      return StartsIgnoringCase(line, "vary");
    default:
      return false;
  }
}

// True if the head of a 200 response has no field about caches. Searches the unparsed text: most
// responses of most applications have no such field, and then need no parsing.
bool SaysNothing(std::string_view head) {
  std::string_view line;
  if (!TakeHeadLine(&head, &line) || line.size() < 12 || line.substr(8, 4) != " 200") return false;
  while (TakeHeadLine(&head, &line)) {
    if (ConcernsCaches(line)) return false;
  }
  return true;
}

bool IsWithoutBody(uint16_t status) { return status == 204 || status == 304; }

// True if at most one line determines where the body ends. Clients differ in which of several lines
// they believe (RFC 9112, section 6.3).
bool HasClearFraming(std::span<const http1::HeaderLine> lines) {
  return std::count_if(lines.begin(), lines.end(), [](const http1::HeaderLine& line) {
           return EqualsIgnoringCase(line.name, "content-length") ||
                  EqualsIgnoringCase(line.name, "transfer-encoding");
         }) <= 1;
}

}  // namespace

CapturedRequest::CapturedRequest(const http1::RequestHead& head, const cache::RequestFacts& facts,
                                 std::string key)
    : key_(std::move(key)), facts_(facts) {
  size_t bytes = head.target.size() + head.host.size();
  for (const auto& [name, value] : head.lines) bytes += name.size() + value.size();
  text_.reserve(bytes);
  // `text_` has room for everything, so it does not move.
  const auto keep = [this](std::string_view from) {
    const size_t at = text_.size();
    text_.append(from);
    return std::string_view(text_).substr(at, from.size());
  };
  head_.method = head.method;
  head_.version_minor = head.version_minor;
  head_.keep_alive = head.keep_alive;
  head_.has_host = head.has_host;
  head_.target = keep(head.target);
  head_.host = keep(head.host);
  head_.lines.reserve(head.lines.size());
  for (const auto& [name, value] : head.lines) {
    const std::string_view kept = keep(name);
    head_.lines.push_back({kept, keep(value)});
  }
  // Drop these views: they point into received bytes, which will be freed.
  facts_.control.no_cache = {};
  facts_.control.is_private = {};
}

Capture::Capture(std::unique_ptr<CapturedRequest> request, std::shared_ptr<const CacheTerms> terms,
                 ProcessCache* cache)
    : request_(std::move(request)),
      terms_(std::move(terms)),
      cache_(cache),
      count_(&cache->captures()),
      mark_(cache->MarkOf(request_->key())) {}

Capture::~Capture() {
  if (taken_bytes_ != 0) cache_->ReturnCaptureBytes(taken_bytes_);
}

void Capture::Refuse(Refusal refusal) {
  if (state_ == State::kRefused || state_ == State::kStored) return;
  state_ = State::kRefused;
  refusal_ = refusal;
  terms_->counters->AddRefusal(refusal);
  if (taken_bytes_ != 0) cache_->ReturnCaptureBytes(std::exchange(taken_bytes_, 0));
  head_ = {};
  body_ = {};
}

void Capture::OnText(std::string_view text, bool is_all, const cache::Received& now) {
  while (!text.empty() && state_ != State::kRefused) {
    const ResponseText::Step step = framing_.Next(text);
    text.remove_prefix(step.used);
    switch (step.kind) {
      case ResponseText::Kind::kHead:
        OnHead(step.bytes, is_all, now);
        break;
      case ResponseText::Kind::kBody:
        Append(step.bytes);
        break;
      case ResponseText::Kind::kTrailers:
        if (step.bytes.size() > 2) Refuse(Refusal::kTrailers);
        break;
      case ResponseText::Kind::kNeedMore:
        break;
      case ResponseText::Kind::kFailed:
        Refuse(Refusal::kIncomplete);
        break;
    }
  }
}

void Capture::OnBody(std::string_view bytes) {
  if (state_ != State::kCapturing) return;
  if (!framing_.takes_unframed()) return Refuse(Refusal::kIncomplete);
  Append(bytes);
}

void Capture::OnHead(std::string_view text, bool is_all, const cache::Received& now) {
  const bool needs_lifetime = policy_.kind == cache::ResponsePolicy::Kind::kNone &&
                              terms_->options.rules == cache::RuleSet::kRfc9111 &&
                              !terms_->options.freshness.allows_heuristics;
  if (needs_lifetime && SaysNothing(text)) {
    status_ = 200;
    return Refuse(Refusal::kNoFreshness);
  }
  http2::ResponseHead head;
  if (!http2::ParseResponseHead(text, &head) || head.status > 999 || head.status == 101) {
    return Refuse(Refusal::kStatus);
  }
  if (head.status < 200) return framing_.BeginHead();
  if (!HasClearFraming(head.lines)) return Refuse(Refusal::kIncomplete);
  status_ = static_cast<uint16_t>(head.status);
  if (keeps_entry_ && status_ >= 500) return Refuse(Refusal::kErrorStatus);
  is_bodiless_ = IsWithoutBody(status_);
  has_length_ = head.has_length && !is_bodiless_ && !head.is_chunked;
  length_ = head.content_length;
  if (is_bodiless_) {
    framing_.BeginNothing();
  } else if (head.is_chunked) {
    framing_.BeginChunks();
  } else if (has_length_) {
    framing_.BeginLength(length_);
  } else {
    framing_.BeginUntilEnd();
  }
  const cache::ResponseFacts facts = cache::ReadResponse(status_, head.lines, now.now_s);
  cache::ResponseShape shape;
  shape.bytes = text.size() + (has_length_ ? length_ : 0);
  shape.is_one_piece = is_all || has_length_ || is_bodiless_;
  const cache::StoreDecision decision =
      cache::MayStore(request_->facts(), facts, policy_, shape, terms_->options, now);
  if (!decision.is_stored()) return Refuse(decision.refusal);
  state_ = State::kCapturing;
  entry_terms_ = decision.terms;
  SetCodings(head.lines, has_length_ ? length_ : cache::kCodedBytesMin);
  vary_ = facts.vary;
  const bool renews_date = entry_terms_.Has(cache::EntryTerms::kHttpSysRules);
  AppendStoredHead(text.substr(0, text.find("\r\n")), head.lines, renews_date, &head_);
  // Reserve at most one piece for a body that comes in parts: Append() counts later bytes.
  if (has_length_) body_.reserve(is_all ? length_ : std::min<uint64_t>(length_, kPieceBytes));
}

void Capture::SetCodings(std::span<const http1::HeaderLine> lines, uint64_t body_bytes) {
  if (body_bytes < cache::kCodedBytesMin || is_bodiless_) return;
  entry_terms_.flags |= cache::CodingFlags(request_->facts(), lines, terms_->options.codings);
}

void Capture::Append(std::string_view bytes) {
  if (state_ != State::kCapturing) return;
  const uint64_t total = head_.size() + body_.size() + bytes.size();
  if (total > terms_->options.entry_bytes_max) return Refuse(Refusal::kTooLarge);
  // Responses shorter than one piece are not counted.
  const uint64_t counted = total < kPieceBytes ? 0 : (total / kPieceBytes + 1) * kPieceBytes;
  if (counted > taken_bytes_) {
    if (!cache_->TakeCaptureBytes(counted - taken_bytes_)) return Refuse(Refusal::kTooLarge);
    taken_bytes_ = counted;
  }
  body_.append(bytes);
}

void Capture::OnEnd(const cache::Received& now, bool is_said) {
  if (state_ == State::kBeforeHead) return Refuse(Refusal::kIncomplete);
  if (state_ != State::kCapturing) return;
  if (has_length_ && body_.size() != length_) return Refuse(Refusal::kIncomplete);
  const bool is_framed = has_length_ || is_bodiless_ || framing_.is_done();
  if (!is_framed && !is_said) return Refuse(Refusal::kIncomplete);
  if (!has_length_ && !is_bodiless_) {
    char digits[20];
    const char* const end = std::to_chars(digits, digits + sizeof digits, body_.size()).ptr;
    const std::string_view text(digits, static_cast<size_t>(end - digits));
    head_.append("Content-Length: ").append(text).append("\r\n");
  }
  Store(head_, body_, now);
  if (state_ == State::kStored) terms_->counters->Add(CacheCounter::kStored);
}

uint32_t Capture::OnConfirmed(uint16_t status, std::string_view head, std::string_view body,
                              uint32_t age_s, const cache::Received& now) {
  status_ = status;
  http2::ResponseHead parsed;
  const std::string text = std::string(head).append("\r\n");
  if (!http2::ParseResponseHead(text, &parsed)) {
    Refuse(Refusal::kStatus);
    return 0;
  }
  cache::ResponseFacts facts = cache::ReadResponse(status, parsed.lines, now.now_s);
  facts.age_s = age_s;
  const uint32_t initial_age_s = cache::InitialAge(facts, now.now_s);
  cache::ResponseShape shape;
  shape.bytes = head.size() + body.size();
  const cache::StoreDecision decision =
      cache::MayStore(request_->facts(), facts, policy_, shape, terms_->options, now);
  if (!decision.is_stored()) {
    (void)cache_->Drop(request_->key());
    Refuse(decision.refusal);
    return initial_age_s;
  }
  entry_terms_ = decision.terms;
  SetCodings(parsed.lines, body.size());
  vary_ = facts.vary;
  Store(head, body, now);
  return initial_age_s;
}

void Capture::Store(std::string_view head, std::string_view body, const cache::Received& now) {
  ProcessCache::Response response;
  response.parts.key = request_->key();
  response.parts.head = head;
  response.parts.body = body;
  // Without Content-Length the length of the body is known only here.
  if (body.size() < cache::kCodedBytesMin) entry_terms_.flags &= ~cache::kCodingFlags;
  response.parts.status = status_;
  response.parts.created_s = now.now_s;
  response.parts.terms = entry_terms_;
  response.vary = &vary_;
  response.lines = request_->head().lines;
  response.mark = mark_;
  const Refusal refusal = cache_->Store(response);
  if (refusal != Refusal::kNone) return Refuse(refusal);
  state_ = State::kStored;
}

}  // namespace httpsys::engine
