// What Http1Session does with requests that JavaScript does not get, or not yet.

#include <utility>

#include "common/limits.h"
#include "engine/canned_replies.h"
#include "engine/error_log.h"
#include "engine/http1_session.h"

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
      // Whole, or it would not have been.
      *used += head.content_length;
      connection->has_served = true;
      connection->is_last_request = !head.keep_alive;
      ++connection->unanswered;
      MessageDone(connection);
      *advance = Advance::kGoOn;
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

// The server does not keep up with what it was given.
bool Http1Session::IsQueueFull(LaneServer* server) {
  const uint32_t limit = server->config->settings().queue_limit;
  if (limit == 0 || server->queued->load(std::memory_order_relaxed) < limit) return false;
  unread_.Settle(queue_->consumed());
  return server->queued->load(std::memory_order_relaxed) >= limit;
}

void Http1Session::Log(const Connection* connection, const http1::RequestHead* head, int status,
                       std::string_view reason) {
  ErrorLog& log = ErrorLog::Instance();
  if (!log.is_on()) return;
  LogEntry entry;
  entry.fd = connection->fd;
  entry.status = status;
  entry.reason = reason;
  entry.server_id = connection->server->id;
  if (head != nullptr) {
    entry.version_minor = head->version_minor;
    entry.method = methods_->Name(head->method);
    entry.target = head->target;
  }
  log.Write(entry);
}

// HTTP.SYS answers for prefixes that nobody registered; so does the engine.
Http1Session::Advance Http1Session::AnswerUnrouted(Connection* connection,
                                                   const http1::RequestHead& head,
                                                   RouteStatus status, size_t* used) {
  if (connection->unanswered != 0) {
    WaitForTurn(connection, used);
    return Advance::kWait;
  }
  const std::string_view reason = ReasonFor(status);
  const int code = StatusFor(status);
  const Verbosity503 verbosity = connection->server->config->settings().verbosity_503;
  if (status == RouteStatus::kQueueFull) {
    connection->server->refused->fetch_add(1, std::memory_order_relaxed);
  }
  if (code == 503 && verbosity == Verbosity503::kBasic) {
    Log(connection, &head, 0, reason);
    transport_->Reset(connection);
    return Advance::kWait;
  }
  Log(connection, &head, code, reason);
  const bool is_expected =
      head.expect != http1::Expectation::kNone && head.body != http1::BodyKind::kNone;
  const bool keep_alive = head.keep_alive && !head.upgrade && !is_expected &&
                          head.content_length <= limits::kLingerBytesMax;
  native_reply_.clear();
  const bool is_reason_told = code == 503 && verbosity == Verbosity503::kFull;
  AppendRouteReply(status, is_reason_told ? reason : std::string_view(),
                   head.method == head_method_, keep_alive, &native_reply_);
  transport_->Send(connection, native_reply_, 0);
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

// -- Refusals.

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

}  // namespace httpsys::engine
