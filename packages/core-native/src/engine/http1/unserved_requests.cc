// What Http1Session does with requests that JavaScript does not get, or not yet.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "engine/http1/http1_session.h"

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

// HTTP.SYS answers for prefixes that nobody registered; so does the engine.
Http1Session::Advance Http1Session::AnswerUnrouted(Connection* connection,
                                                   const http1::RequestHead& head,
                                                   RouteStatus status, size_t* used) {
  if (NativeAnswers::MustWait(*connection)) {
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
  if (status == RouteStatus::kQueueFull) {
    connection->server->refused->fetch_add(1, std::memory_order_relaxed);
  }
  NativeAnswers::Unserved request{status, &head};
  request.closes = !keep_alive;
  connection->ForgetMoves();
  if (!answers_->AnswerUnserved(this, connection, request)) return Advance::kWait;
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
  NativeAnswers::Unserved request{RouteStatus::kOffline, is_known ? &parser->head() : nullptr};
  request.closes = true;
  request.serves_any_method = !is_known;
  (void)answers_->AnswerUnserved(this, connection, request);
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
  answers_->CountSlowReader(connection);
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
  answers_->AnswerRefused(this, connection, kind, is_in_body);
}

// -- AnswerWriter.

void Http1Session::WriteAnswer(Connection* connection, const NativeAnswer& answer) {
  if (answer.ends_input) {
    connection->phase = InputPhase::kOver;
    transport_->Pause(connection, kPauseOver);
  }
  answers_->Append(connection, answer);
  // Whoever relays a message that is refused learns it from the end of the connection.
  const bool is_relayed = connection->origin != nullptr && answer.counter != LaneCounter::kRefused;
  if (is_relayed) {
    answers_->Send(connection);
    connection->origin->closes = answer.closes;
    router_->OnRelayedAnswer(connection);
  }
  if (answer.closes) transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  const bool is_last = answer.closes || is_relayed || answers_->IsBatchFull(*connection);
  if (is_last) answers_->Flush(connection);
}

void Http1Session::ResetRequest(Connection* connection, bool) {
  answers_->Flush(connection);
  transport_->Reset(connection);
}

}  // namespace httpsys::engine
