#include "engine/cache/captures.h"

#include <ctime>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "cache/cache_key.h"
#include "engine/cache/cached_url.h"
#include "engine/cache/stored_head.h"
#include "http2/response_text.h"

namespace httpsys::engine {
namespace {

using cache::Refusal;
using records::ReplyType;

cache::Received Now() {
  return {static_cast<int64_t>(std::time(nullptr)), uv_hrtime() / 1'000'000};
}

bool Ends(const ReplyRecord& reply) {
  if (reply.has(records::kReplyInterim)) return false;
  return reply.has(records::kReplyEnd) || reply.type() == ReplyType::kEnd ||
         reply.type() == ReplyType::kTrailers;
}

bool IsOfResponse(ReplyType type) {
  switch (type) {
    case ReplyType::kResponse:
    case ReplyType::kData:
    case ReplyType::kBlock:
    case ReplyType::kTrailers:
    case ReplyType::kEnd:
    case ReplyType::kCachePolicy:
      return true;
    default:
      return false;
  }
}

// Cache-Status of a stale answer that replaces a failure.
constexpr std::string_view kStaleIfError = "httpsys; hit; detail=STALE_IF_ERROR";

uint32_t AgeOf(const cache::EntryTerms& terms, uint64_t now_ms) {
  return cache::Judge(terms, {}, {}, now_ms).age_s;
}

// Returns true if the answer was refused, but the answer to the next request may be stored: the
// refused one was invalidated while JavaScript made it, or is a 304 for a client that has a copy.
bool IsForOne(const CacheExchange& exchange) {
  const Capture& capture = *exchange.capture;
  if (capture.state() != Capture::State::kRefused) return false;
  return capture.refusal() == Refusal::kObsolete ||
         (capture.refusal() == Refusal::kNotModified && !exchange.is_background);
}

// Header lines, each with its CRLF, that the cache adds to a response of JavaScript.
std::string FieldsOf(const CacheExchange& exchange) {
  const Capture* const capture = exchange.capture.get();
  std::string lines;
  // In all answers from the first one on: caches downstream must expect compressed variants.
  if (capture != nullptr && capture->varies_by_coding()) lines = "Vary: Accept-Encoding\r\n";
  if (exchange.status.empty()) return lines;
  lines.append("Cache-Status: ").append(exchange.status);
  if (capture != nullptr && capture->state() != Capture::State::kRefused) {
    lines.append("; stored");
  } else if (capture != nullptr && exchange.terms->tells_reason) {
    lines.append("; detail=").append(cache::RefusalName(capture->refusal()));
  }
  return lines.append("\r\n");
}

}  // namespace

void Captures::Add(const Connection* connection, std::unique_ptr<CacheExchange> exchange) {
  if (exchange == nullptr && exchanges_.empty()) return;
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end() && exchange == nullptr) return;
  Exchanges& exchanges = found == exchanges_.end() ? exchanges_[connection] : found->second;
  // Captures does not know earlier requests of the connection if their server has no cache, or if
  // they were taken back: fill the list with empty places for them.
  const size_t earlier = connection->message.unanswered() - 1;
  if (exchanges.size() != earlier) {
    LoseAll(&exchanges);
    exchanges.resize(earlier);
  }
  if (exchange != nullptr && exchange->leads) {
    exchange->connection = connection;
    waiting_->Lead(connection, exchange->key, exchange->hash);
  }
  exchanges.push_back(std::move(exchange));
}

Captures::Pass Captures::OnReply(Connection* connection, const ReplyRecord& reply,
                                 ReplyRecord* other) {
  const bool destroys =
      (reply.type() == ReplyType::kDestroy && !reply.has(records::kReplyIfIdle)) ||
      reply.type() == ReplyType::kReset;
  if (destroys) return OnDestroy(connection, reply, other);
  if (!IsOfResponse(reply.type())) return Pass::kAsIs;
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end()) return Pass::kAsIs;
  Exchanges& exchanges = found->second;
  if (exchanges.size() != connection->message.unanswered()) {
    LoseAll(&exchanges);
    exchanges_.erase(found);
    return Pass::kAsIs;
  }
  CacheExchange* const exchange = exchanges.front().get();
  const Pass pass =
      exchange == nullptr ? Pass::kAsIs : OnOutput(connection, exchange, reply, other);
  if (!Ends(reply)) return pass;
  exchanges.pop_front();
  if (exchanges.empty()) exchanges_.erase(found);
  return pass;
}

Captures::Pass Captures::OnOutput(Connection* connection, CacheExchange* exchange,
                                  const ReplyRecord& reply, ReplyRecord* other) {
  if (exchange->is_answered) return Swallow(connection, reply, exchange->is_background, other);
  FoundHead found;
  if (!reply.has(records::kReplyInterim)) {
    found = HeadIn(connection, exchange, reply);
    if (exchange->stored != nullptr &&
        AnswerStored(connection, exchange, reply, found.head, other)) {
      exchange->is_answered = true;
      return exchange->is_background ? Swallow(connection, reply, true, other) : Pass::kInstead;
    }
    if (exchange->is_unsafe && !found.is_interim) Invalidate(exchange, reply, found.head);
    if (exchange->capture != nullptr) Take(connection, exchange, reply);
  }
  if (exchange->is_background) return Swallow(connection, reply, true, other);
  return found.head.empty() ? Pass::kAsIs : AddFields(connection, *exchange, reply, found, other);
}

// Returns the head of the response if this record has it. Does not search records behind the final
// head, because a body may look like a head.
FoundHead Captures::HeadIn(Connection* connection, CacheExchange* exchange,
                           const ReplyRecord& reply) {
  if (exchange->is_begun) return {};
  const std::string_view text = TextIn(connection, reply);
  if (text.empty()) return {};
  const bool is_response = reply.type() == ReplyType::kResponse;
  const FoundHead found = is_response ? FoundHead{text, text.size()} : FindHead(text);
  exchange->is_begun = !found.is_interim;
  return found;
}

void Captures::Take(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply) {
  Capture* const capture = exchange->capture.get();
  const bool is_unframed = reply.has(records::kReplyChunked);
  const bool is_all = Ends(reply);
  switch (reply.type()) {
    case ReplyType::kCachePolicy: {
      cache::ResponsePolicy policy;
      policy.kind = static_cast<cache::ResponsePolicy::Kind>(reply.cache_policy().kind);
      policy.seconds = reply.cache_policy().seconds;
      capture->SetPolicy(policy);
      return;
    }
    case ReplyType::kResponse:
      if (is_unframed) {
        capture->OnText(reply.response().head, is_all, Now());
        capture->OnBody(reply.response().body);
      } else {
        capture->OnText(reply.response().all(), is_all, Now());
      }
      // Refuse before the head leaves: its Cache-Status says whether the response is stored.
      // OnText() has read the status of the response above.
      if (reply.has(records::kReplyFile)) capture->Refuse(Refusal::kFile);
      break;
    case ReplyType::kData:
      if (is_unframed) {
        capture->OnBody(reply.bytes().bytes);
      } else {
        capture->OnText(reply.bytes().bytes, is_all, Now());
      }
      break;
    case ReplyType::kBlock:
      OnBlock(connection, capture, reply);
      break;
    case ReplyType::kTrailers:
      capture->Refuse(Refusal::kTrailers);
      break;
    default:
      break;
  }
  // True if the application has ended the response by end(), which writes the last bytes or
  // announces chunks. Another kEnd may be due to the end of the connection: a truncated response.
  const bool is_said = is_unframed || reply.type() != ReplyType::kEnd;
  if (is_all) capture->OnEnd(Now(), is_said);
  NoteTarget(exchange);
  DropSuperseded(exchange);
  LeadLate(connection, exchange);
  Decide(exchange);
}

// Lets other requests wait for an answer that may be stored by its head. A client may have the
// whole answer before the lane knows that it has ended; its next request must find the answer.
void Captures::LeadLate(const Connection* connection, CacheExchange* exchange) {
  const bool is_storable = exchange->capture->state() == Capture::State::kCapturing;
  if (!is_storable || !std::exchange(exchange->may_lead_late, false)) return;
  exchange->leads = waiting_->LeadLate(connection, exchange->key, exchange->hash);
  exchange->connection = connection;
}

void Captures::NoteTarget(CacheExchange* exchange) {
  if (exchange->target_hash == 0) return;
  const Capture& capture = *exchange->capture;
  const bool is_refused = capture.state() == Capture::State::kRefused;
  if (!is_refused && capture.state() != Capture::State::kStored) return;
  refused_.OnResponse(std::exchange(exchange->target_hash, 0), exchange->mark,
                      is_refused ? capture.refusal() : Refusal::kNone, waiting_->now_ms());
}

// Drops the stale entry of a refused answer, unless the application has failed. Otherwise a page
// that has become private would be given out as long as its last public version may be stale.
void Captures::DropSuperseded(CacheExchange* exchange) {
  const Capture& capture = *exchange->capture;
  const bool is_refused =
      capture.state() == Capture::State::kRefused && capture.refusal() != Refusal::kObsolete;
  if (exchange->stored == nullptr || !exchange->stored->is_stale || !is_refused) return;
  if (capture.status() == 0 || capture.status() >= 500) return;
  exchange->stored = nullptr;
  (void)cache_->Drop(capture.request().key());
}

// Does not capture files: the kernel sends them from its cache, and reading would block the lane.
void Captures::OnBlock(Connection* connection, Capture* capture, const ReplyRecord& reply) {
  LentMemory::View view;
  if (!connection->attachment().lent().Find(reply.block_id(), &view)) return;
  if (view.data == nullptr) return capture->Refuse(Refusal::kFile);
  const std::string_view bytes(reinterpret_cast<const char*>(view.data), view.bytes);
  if (reply.has(records::kReplyChunked)) {
    capture->OnBody(bytes);
  } else {
    capture->OnText(bytes, Ends(reply), Now());
  }
}

void Captures::Decide(CacheExchange* exchange) {
  if (exchange->is_decided) return;
  const Capture& capture = *exchange->capture;
  if (capture.state() != Capture::State::kRefused && capture.state() != Capture::State::kStored) {
    return;
  }
  exchange->is_decided = true;
  const bool is_refused = capture.state() == Capture::State::kRefused;
  // Answers for one client, failures, and answers to requests with cookies do not tell whether the
  // answers to other requests can be stored.
  const bool is_about_others =
      !IsForOne(*exchange) && !exchange->has_failed && !capture.request().facts().has_cookie;
  if (is_about_others) cache_->asking_lanes().storable.Note(exchange->hash, !is_refused);
  if (!exchange->leads) return;
  if (IsForOne(*exchange)) return waiting_->OnLost(exchange->connection, exchange->key);
  using Decision = WaitingMisses::Decision;
  Decision decision = is_refused ? Decision::kRefused : Decision::kStored;
  if (exchange->has_failed) decision = Decision::kFailed;
  waiting_->OnDecided(exchange->key, decision);
}

// -- Answers of entries that replace JavaScript's.

bool Captures::AnswerStored(Connection* connection, CacheExchange* exchange,
                            const ReplyRecord& reply, std::string_view text, ReplyRecord* other) {
  http2::ResponseHead head;
  if (text.empty() || !http2::ParseResponseHead(text, &head)) return false;
  StoredCopy& stored = *exchange->stored;
  constexpr int kNotModified = 304;
  const auto status = static_cast<uint16_t>(head.status);
  const cache::Received now = Now();
  UsedEntry entry;
  entry.status = stored.status;
  entry.body = stored.body;
  entry.varies_by_coding = stored.terms.Has(cache::EntryTerms::kVariesByCoding);
  std::string status_text;
  if (status == kNotModified && stored.is_asked_about) {
    entry.age_s = Confirm(exchange, text, now);
    entry.head = head_;
    status_text = exchange->status;
  } else if (cache::IsFailure(status) && stored.may_answer_errors) {
    exchange->terms->counters->Add(CacheCounter::kStale);
    exchange->has_failed = true;
    exchange->capture->Refuse(Refusal::kStatus);
    Decide(exchange);
    entry.head = stored.head;
    entry.age_s = AgeOf(stored.terms, now.now_ms);
    status_text = exchange->status.empty() ? std::string_view() : kStaleIfError;
  } else {
    return false;
  }
  if (exchange->is_background) return true;
  entry.cache_status = status_text;
  *other = substitutes_.Answer(reply, entry, exchange->capture->request().head(),
                               connection->server()->config->keep_alive_lines(), now.now_s);
  // Credit the bytes that JavaScript has written and the substitute does not send.
  const size_t sent = other->response().all().size();
  size_t counted = CountedBytes(reply);
  if (reply.type() == ReplyType::kBlock) {
    counted = TextIn(connection, reply).size();
    connection->attachment().DropBlock(reply.block_id(), 0);
  }
  if (counted > sent) output_->Credit(connection, counted - sent);
  return true;
}

// Stores the entry again, with its head (in head_) updated from a 304. Returns its age in seconds.
uint32_t Captures::Confirm(CacheExchange* exchange, std::string_view text,
                           const cache::Received& now) {
  StoredCopy& stored = *exchange->stored;
  Capture& capture = *exchange->capture;
  http2::ResponseHead update;
  (void)http2::ParseResponseHead(text, &update);
  head_.clear();
  AppendUpdatedHead(stored.head, update.lines, &head_);
  const uint32_t age_s = cache::ReadResponse(stored.status, update.lines, now.now_s).age_s;
  const uint32_t initial_age_s = capture.OnConfirmed(stored.status, head_, stored.body, age_s, now);
  exchange->terms->counters->Add(CacheCounter::kRevalidated);
  Decide(exchange);
  return initial_age_s;
}

// Discards a record that the client must not get, and credits its bytes. If the record ends the
// response, only its end remains.
Captures::Pass Captures::Swallow(Connection* connection, const ReplyRecord& reply, bool closes,
                                 ReplyRecord* other) {
  if (reply.type() == ReplyType::kBlock) {
    LentMemory::View view;
    (void)connection->attachment().lent().Find(reply.block_id(), &view);
    connection->attachment().DropBlock(reply.block_id(), 0);
    if (view.data != nullptr) output_->Credit(connection, view.bytes);
  } else if (const size_t counted = CountedBytes(reply); counted != 0) {
    output_->Credit(connection, counted);
  }
  if (!Ends(reply)) return Pass::kDropped;
  *other = SubstituteReplies::End(reply, closes);
  return Pass::kInstead;
}

// Handles a record by which JavaScript destroys the connection instead of answering.
Captures::Pass Captures::OnDestroy(Connection* connection, const ReplyRecord& reply,
                                   ReplyRecord* other) {
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end() || found->second.size() != connection->message.unanswered()) {
    return Pass::kAsIs;
  }
  CacheExchange* const exchange = found->second.front().get();
  const bool may_answer = exchange != nullptr && exchange->stored != nullptr &&
                          !exchange->is_answered && !exchange->is_background &&
                          exchange->capture->state() == Capture::State::kBeforeHead;
  if (!may_answer) return Pass::kAsIs;
  const cache::Received now = Now();
  const StoredCopy& stored = *exchange->stored;
  const bool tells_status = !exchange->status.empty();
  UsedEntry entry;
  if (tells_status) entry.cache_status = exchange->status;
  if (stored.may_answer_errors) {
    if (tells_status) entry.cache_status = kStaleIfError;
    exchange->terms->counters->Add(CacheCounter::kStale);
    entry.status = stored.status;
    entry.head = stored.head;
    entry.body = stored.body;
    entry.varies_by_coding = stored.terms.Has(cache::EntryTerms::kVariesByCoding);
    entry.age_s = AgeOf(stored.terms, now.now_ms);
  } else {
    // The application has not confirmed the stored response, so it must not be used (RFC 9111,
    // section 5.2.2.2): answer 504.
    entry.status = kGatewayTimeout;
    entry.head = kGatewayTimeoutHead;
  }
  // Close a connection of HTTP/1.1 only: the other streams of an HTTP/2 connection continue.
  const uint32_t close = connection->stream == nullptr ? uint32_t{records::kReplyClose} : 0;
  const ReplyRecord end = ReplyRecord::End(reply.slot(), records::kReplyEnd | close, 0);
  *other = substitutes_.Answer(end, entry, exchange->capture->request().head(),
                               connection->server()->config->keep_alive_lines(), now.now_s);
  exchange->has_failed = stored.may_answer_errors;
  if (exchange->has_failed) {
    exchange->capture->Refuse(Refusal::kIncomplete);
    Decide(exchange);
  }
  Lose(exchange);
  found->second.pop_front();
  if (found->second.empty()) exchanges_.erase(found);
  return Pass::kBefore;
}

std::string_view Captures::TextIn(Connection* connection, const ReplyRecord& reply) {
  if (reply.type() == ReplyType::kResponse) return reply.response().head;
  if (reply.has(records::kReplyChunked)) return {};
  if (reply.type() == ReplyType::kData) return reply.bytes().bytes;
  LentMemory::View view;
  const bool is_memory = reply.type() == ReplyType::kBlock &&
                         connection->attachment().lent().Find(reply.block_id(), &view) &&
                         view.data != nullptr;
  if (!is_memory) return {};
  return {reinterpret_cast<const char*>(view.data), view.bytes};
}

Captures::Pass Captures::AddFields(Connection* connection, const CacheExchange& exchange,
                                   const ReplyRecord& reply, const FoundHead& found,
                                   ReplyRecord* other) {
  const std::string lines = FieldsOf(exchange);
  if (lines.empty()) return Pass::kAsIs;
  if (reply.type() != ReplyType::kBlock) {
    *other = substitutes_.WithFields(reply, found.end, lines);
    return Pass::kInstead;
  }
  // Replace only the head: the block may be long, so the bytes behind the head stay in it.
  *other = substitutes_.HeadOfBlock(reply, TextIn(connection, reply).substr(0, found.end), lines);
  connection->attachment().lent().Skip(reply.block_id(), found.end);
  return Pass::kBefore;
}

// -- Unsafe requests.

// Drops entries if the status of the response shows that the unsafe request has succeeded. A
// response without a readable head counts as success.
void Captures::Invalidate(CacheExchange* exchange, const ReplyRecord& reply,
                          std::string_view text) {
  if (exchange->is_decided || reply.type() == ReplyType::kCachePolicy) return;
  exchange->is_decided = true;
  http2::ResponseHead head;
  const bool is_read = !text.empty() && http2::ParseResponseHead(text, &head);
  const auto status = static_cast<uint16_t>(is_read ? head.status : 200);
  cache::RequestFacts request;
  request.method = cache::MethodKind::kOther;
  if (!cache::Invalidates(request, status, exchange->terms->options.rules)) return;
  InvalidateKey(*exchange, exchange->key);
  if (!is_read) return;
  for (const auto& [name, value] : head.lines) {
    if (EqualsIgnoringCase(name, "location") || EqualsIgnoringCase(name, "content-location")) {
      DropUrl(*exchange, value);
    }
  }
}

void Captures::DropUrl(const CacheExchange& exchange, std::string_view reference) {
  cache::KeyParts url;
  if (!cache::SplitKey(exchange.key, &url)) return;
  const std::optional<std::string> target =
      SameOriginTarget({exchange.is_secure, url.host, url.target}, reference);
  if (target.has_value()) InvalidateKey(exchange, cache::KeyForTarget(exchange.key, *target));
}

void Captures::InvalidateKey(const CacheExchange& exchange, std::string_view key) {
  if (!cache_->must_invalidate() || !cache_->Invalidate(key)) return;
  exchange.terms->counters->Add(CacheCounter::kInvalidated);
}

// -- Missing answers.

void Captures::Lose(CacheExchange* exchange) {
  if (exchange == nullptr || exchange->is_decided) return;
  if (exchange->is_unsafe) {
    // Even without an answer, the application may have made the change.
    exchange->is_decided = true;
    InvalidateKey(*exchange, exchange->key);
  }
  if (exchange->leads) waiting_->OnLost(exchange->connection, exchange->key);
}

void Captures::LoseAll(Exchanges* exchanges) {
  for (const auto& exchange : *exchanges) Lose(exchange.get());
  exchanges->clear();
}

void Captures::OnTakenBack(const Connection* connection) {
  if (exchanges_.empty()) return;
  const auto found = exchanges_.find(connection);
  // If the server has no cache, the request is unknown here.
  if (found == exchanges_.end() || found->second.size() != connection->message.unanswered()) return;
  const std::unique_ptr<CacheExchange> exchange = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) exchanges_.erase(found);
  // Release the waiting requests, so that each finds another owner: JavaScript is blocked, and if
  // one of them led, all would wait for it again.
  const bool leads = exchange != nullptr && exchange->leads && !exchange->is_decided;
  if (leads) waiting_->OnDecided(exchange->key, WaitingMisses::Decision::kUnknown);
}

void Captures::OnDetached(const Connection* connection) {
  if (exchanges_.empty()) return;
  const auto found = exchanges_.find(connection);
  if (found == exchanges_.end()) return;
  LoseAll(&found->second);
  exchanges_.erase(found);
}

}  // namespace httpsys::engine
