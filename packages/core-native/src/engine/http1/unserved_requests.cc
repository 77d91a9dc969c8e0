// What Http1Session does with requests that JavaScript does not get, or not yet.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "engine/http1/http1_session.h"
#include "engine/requests/canned_replies.h"
#include "engine/statistics/error_log.h"

namespace httpsys::engine {

using records::ErrorKind;

bool Http1Session::FindServer(Connection* connection, const http1::RequestHead& head,
                              std::string_view input, Route* route, size_t* used,
                              Advance* advance) {
  *advance = Advance::kWait;
  switch (router_->FindServer(connection, head, input, *used, route)) {
    case RequestRouter::Outcome::kHere:
      return true;
    case RequestRouter::Outcome::kUnrouted:
      *advance = AnswerUnrouted(connection, head, route->status, used);
      return false;
    case RequestRouter::Outcome::kLater:
    case RequestRouter::Outcome::kWaiting:
      WaitForTurn(connection, used);
      return false;
    case RequestRouter::Outcome::kElsewhere:
      return false;
    case RequestRouter::Outcome::kRelayed:
      *advance = BeginRelay(connection, head);
      return false;
  }
  return false;
}

// The head is parsed again then.
void Http1Session::WaitForTurn(Connection* connection, size_t* used) {
  transport_->Pause(connection, kPauseOrder);
  connection->message_start_ns = 0;
  *used = 0;
}

// -- The request queue.

void Http1Session::AddUnread(const Connection* connection, const http1::RequestHead& head) {
  const LaneServer* server = connection->server;
  UnreadRequests::Item item;
  item.end = queue_->appended();
  item.counter = server->queued;
  item.slot = connection->slot;
  item.is_head = head.method == head_method_;
  item.is_first = connection->unanswered == 1;
  const uint32_t timeout_ms = server->config->settings().queue_timeout_ms;
  // One behind others waits for those.
  if (timeout_ms != 0 && item.is_first) item.deadline_ms = Now() / 1'000'000 + timeout_ms;
  unread_.Add(item);
}

// HTTP.SYS' timer of the request queue.
void Http1Session::RefuseTaken(uint64_t now_ms) {
  unread_.Settle(queue_->begun());
  for (const UnreadRequests::Item& item : unread_.TakeOverdue(now_ms)) {
    RefuseUnread(item, RouteStatus::kQueueTimeout);
  }
}

void Http1Session::RefuseAbandoned() {
  unread_.Settle(queue_->begun());
  for (const UnreadRequests::Item& item : unread_.All()) {
    if (item.is_first) RefuseUnread(item, RouteStatus::kOffline);
  }
}

void Http1Session::RefuseUnread(const UnreadRequests::Item& item, RouteStatus status) {
  Connection* connection = transport_->Find(item.slot);
  const bool is_there = connection != nullptr && connection->is_open() &&
                        connection->after_output == AfterOutput::kNothing;
  if (!is_there || connection->unanswered == 0) return;
  const ServerSettings& settings = connection->server->config->settings();
  // As on Node, where there is no queue whose owner could go.
  if (status == RouteStatus::kOffline && settings.prefixes.empty()) return;
  if (!refused_->Claim(item.end, *queue_)) return;
  connection->server->refused->fetch_add(1, std::memory_order_relaxed);
  const bool is_silent = settings.verbosity_503 == Verbosity503::kBasic;
  Log(connection, nullptr, is_silent ? 0 : StatusFor(status), ReasonFor(status));
  native_reply_.clear();
  if (!is_silent) {
    const bool is_reason_told = settings.verbosity_503 == Verbosity503::kFull;
    AppendRouteReply(status, is_reason_told ? ReasonFor(status) : std::string_view(), item.is_head,
                     false, &native_reply_);
  }
  if (connection->stream != nullptr) return http2_->RefuseUnread(connection, native_reply_);
  if (is_silent) return transport_->Reset(connection);
  connection->phase = InputPhase::kOver;
  transport_->Pause(connection, kPauseOver);
  transport_->Send(connection, native_reply_, 0);
  if (connection->origin != nullptr) {
    connection->origin->closes = true;
    router_->OnRelayedAnswer(connection);
  }
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  transport_->Flush(connection);
}

// The server does not keep up with what it was given.
bool Http1Session::IsQueueFull(LaneServer* server) {
  const uint32_t limit = server->config->settings().queue_limit;
  if (limit == 0 || server->queued->load(std::memory_order_relaxed) < limit) return false;
  unread_.Settle(queue_->begun());
  return server->queued->load(std::memory_order_relaxed) >= limit;
}

void Http1Session::Log(const Connection* connection, const http1::RequestHead* head, int status,
                       std::string_view reason) {
  ErrorLog& log = ErrorLog::Instance();
  if (!log.is_on()) return;
  const RelayOrigin* origin = connection->origin.get();
  const bool is_stream = connection->stream != nullptr || (origin != nullptr && origin->is_stream);
  LogEntry entry;
  if (origin != nullptr) {
    entry.addresses = &origin->addresses;
  } else {
    entry.fd =
        connection->stream == nullptr ? connection->fd : connection->stream->state->connection->fd;
  }
  entry.status = status;
  entry.reason = reason;
  entry.server_id = connection->server->id;
  if (head != nullptr) {
    entry.version_major = is_stream ? 2 : 1;
    entry.version_minor = is_stream ? 0 : head->version_minor;
    entry.method = methods_->Name(head->method);
    entry.target = head->target;
  }
  if (!log.Write(entry)) has_dropped_lines_ = true;
}

bool Http1Session::ComposeUnrouted(const Connection* connection, const http1::RequestHead* head,
                                   RouteStatus status, bool keep_alive, std::string* reply) {
  const std::string_view reason = ReasonFor(status);
  const int code = StatusFor(status);
  const Verbosity503 verbosity = connection->server->config->settings().verbosity_503;
  if (status == RouteStatus::kQueueFull) {
    connection->server->refused->fetch_add(1, std::memory_order_relaxed);
  }
  const bool is_silent = code == 503 && verbosity == Verbosity503::kBasic;
  Log(connection, head, is_silent ? 0 : code, reason);
  if (is_silent) return false;
  reply->clear();
  const bool is_reason_told = code == 503 && verbosity == Verbosity503::kFull;
  AppendRouteReply(status, is_reason_told ? reason : std::string_view(),
                   head != nullptr && head->method == head_method_, keep_alive, reply);
  return true;
}

// HTTP.SYS answers for prefixes that nobody registered; so does the engine.
Http1Session::Advance Http1Session::AnswerUnrouted(Connection* connection,
                                                   const http1::RequestHead& head,
                                                   RouteStatus status, size_t* used) {
  if (connection->unanswered != 0) {
    WaitForTurn(connection, used);
    return Advance::kWait;
  }
  const bool is_expected =
      head.expect != http1::Expectation::kNone && head.body != http1::BodyKind::kNone;
  const bool is_broken = status == RouteStatus::kBadUrl || status == RouteStatus::kBadHost;
  // Where the port has other members they get the connection when it is idle.
  const bool is_last =
      connection->server->is_unlistened && !router_->IsShared(connection->local_port);
  const bool keep_alive = !is_broken && head.keep_alive && !head.upgrade && !is_expected &&
                          !is_last && head.content_length <= limits::kLingerBytesMax;
  if (!ComposeUnrouted(connection, &head, status, keep_alive, &native_reply_)) {
    transport_->Reset(connection);
    return Advance::kWait;
  }
  transport_->Send(connection, native_reply_, 0);
  connection->ForgetMoves();
  if (connection->origin != nullptr) {
    connection->origin->closes = !keep_alive;
    router_->OnRelayedAnswer(connection);
  }
  if (!keep_alive) transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  transport_->Flush(connection);
  if (!keep_alive || !connection->is_open()) return Advance::kWait;
  connection->has_served = true;
  connection->is_last_request = false;
  if (connection->idle_timeout_ms == 0) connection->idle_timeout_ms = limits::kNativeIdleMs;
  BeginBody(connection, head);
  if (connection->phase == InputPhase::kHead) {
    MessageDone(connection);
  } else {
    connection->phase = connection->phase == InputPhase::kBodyLength ? InputPhase::kSkipLength
                                                                     : InputPhase::kSkipChunked;
  }
  return Advance::kGoOn;
}

// The member that was to answer is gone, and nobody knows what it has done.
void Http1Session::AnswerLost(Connection* connection, std::string_view requests) {
  const ServerSettings& settings = connection->server->config->settings();
  // Others may be in the middle of a head.
  std::unique_ptr<http1::RequestParser> parser = TakeParser();
  parser->Reset(settings.header_bytes_max, settings.header_lines_max);
  const bool is_known = !requests.empty() && parser->Parse(requests) == http1::ParseStatus::kDone;
  const http1::RequestHead* head = is_known ? &parser->head() : nullptr;
  std::string reply;
  if (ComposeUnrouted(connection, head, RouteStatus::kOffline, false, &reply)) {
    // The answer to HEAD would have no body.
    transport_->Send(connection, is_known ? reply : OfflineReply(), 0);
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    transport_->Flush(connection);
  } else {
    transport_->Reset(connection);
  }
  if (parsers_.size() < limits::kSpareParsersMax) parsers_.push_back(std::move(parser));
}

// -- Requests that another member answers. It has the last word on their bytes: here only their
// ends are looked for.

Http1Session::Advance Http1Session::BeginRelay(Connection* connection,
                                               const http1::RequestHead& head) {
  connection->has_served = true;
  connection->is_last_request = !head.keep_alive;
  ++connection->unanswered;
  BeginBody(connection, head);
  if (connection->phase == InputPhase::kBodyLength) {
    connection->phase = InputPhase::kRelayLength;
  } else if (connection->phase == InputPhase::kBodyChunked) {
    connection->phase = InputPhase::kRelayChunked;
  }
  connection->message_start_ns = 0;
  if (head.upgrade) {
    connection->declined_phase = connection->phase;
    connection->phase = InputPhase::kRelayUpgrade;
    transport_->Pause(connection, kPauseUpgrade);
    return Advance::kWait;
  }
  if (connection->phase == InputPhase::kHead) MessageDone(connection);
  return Advance::kGoOn;
}

void Http1Session::TakeBack(Connection* connection, std::string_view requests, uint32_t count) {
  connection->unanswered -= std::min(connection->unanswered, count);
  ++connection->hops;
  connection->phase = InputPhase::kHead;
  connection->is_last_request = false;
  connection->decoder.reset();
  connection->parser.reset();
  if (connection->partial == nullptr) connection->partial = std::make_unique<std::string>();
  connection->partial->insert(0, requests);
  transport_->Resume(connection, kPauseUpgrade);
  transport_->Resume(connection, kPauseRelay);
  transport_->Resume(connection, kPausePipeline);
}

void Http1Session::OnRelayedUpgrade(Connection* connection, bool is_accepted) {
  connection->phase = is_accepted ? InputPhase::kRelayOpaque : connection->declined_phase;
  if (is_accepted) connection->decoder.reset();
  if (connection->phase == InputPhase::kHead) MessageDone(connection);
  ResumeInput(connection, kPauseUpgrade);
}

bool Http1Session::CanRelay(Connection* connection) {
  if (router_->CanRelay(connection)) return true;
  transport_->Pause(connection, kPauseRelay);
  return false;
}

Http1Session::Advance Http1Session::RelayLength(Connection* connection, std::string_view input,
                                                size_t* used) {
  if (!CanRelay(connection)) return Advance::kWait;
  *used = std::min<uint64_t>(input.size(), connection->body_bytes);
  router_->RelayMore(connection, input.substr(0, *used));
  connection->body_bytes -= *used;
  if (connection->body_bytes == 0) MessageDone(connection);
  return Advance::kGoOn;
}

Http1Session::Advance Http1Session::RelayChunked(Connection* connection, std::string_view input,
                                                 size_t* used) {
  if (!CanRelay(connection)) return Advance::kWait;
  const http1::ChunkedDecoder::Step step = connection->decoder->Next(input);
  *used = step.status == http1::DecodeStatus::kError ? input.size() : step.consumed_bytes;
  router_->RelayMore(connection, input.substr(0, *used));
  if (step.status == http1::DecodeStatus::kError) {
    // The member finds the same, and answers it.
    connection->phase = InputPhase::kOver;
    transport_->Pause(connection, kPauseOver);
    return Advance::kWait;
  }
  if (step.status == http1::DecodeStatus::kEnd) {
    ReturnDecoder(connection);
    MessageDone(connection);
  }
  return *used == 0 ? Advance::kWait : Advance::kGoOn;
}

Http1Session::Advance Http1Session::RelayOpaque(Connection* connection, std::string_view input,
                                                size_t* used) {
  if (!CanRelay(connection)) return Advance::kWait;
  *used = input.size();
  router_->RelayMore(connection, input);
  return Advance::kGoOn;
}

// -- Refusals.

// What the kernel still has for the client goes with the connection.
void Http1Session::OnTooSlow(Connection* connection) {
  Log(connection, nullptr, 0, "Timer_MinBytesPerSecond");
  transport_->Reset(connection, ETIMEDOUT);
}

void Http1Session::Refuse(Connection* connection, ErrorKind kind, std::string_view raw) {
  const bool is_in_body = connection->phase != InputPhase::kHead;
  connection->message_start_ns = 0;
  transport_->StopTimer(connection);
  if (connection->after_output != AfterOutput::kClose &&
      (connection->unanswered != 0 || connection->server->config->settings().wants_errors)) {
    // Still read, so that the peer's end is noticed when nobody closes the connection.
    connection->phase = InputPhase::kRefused;
    connection->refusal = kind;
    transport_->Announce(connection, records::kFlagShared);
    records_->Error(connection->slot, kind, raw.substr(0, limits::kRawBytesMax));
    return;
  }
  connection->phase = InputPhase::kOver;
  transport_->Pause(connection, kPauseOver);
  if (connection->after_output == AfterOutput::kClose) return;
  if (connection->is_fin_sent) {
    transport_->Close(connection, 0);
    return;
  }
  Log(connection, nullptr, StatusFor(kind), ReasonFor(kind, is_in_body));
  transport_->Send(connection, RefusalReply(kind), 0);
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  transport_->Flush(connection);
}

void Http1Session::RefuseStream(Connection* stream, ErrorKind kind) {
  stream->message_start_ns = 0;
  if (stream->unanswered == 0) return transport_->Close(stream, 0);
  stream->phase = InputPhase::kRefused;
  stream->refusal = kind;
  records_->Error(stream->slot, kind, {});
}

}  // namespace httpsys::engine
