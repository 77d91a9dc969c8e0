#include "engine/requests/exchanges.h"

#include <utility>

#include "base/limits.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

using http1::BodyKind;

InputPhase Exchanges::BeginBody(Connection* connection, const http1::RequestHead& head) {
  connection->message.SetBodyBytes(head.body == BodyKind::kChunked ? 0 : head.content_length);
  if (head.body == BodyKind::kLength && head.content_length != 0) return InputPhase::kBodyLength;
  if (head.body != BodyKind::kChunked) return InputPhase::kHead;
  std::unique_ptr<http1::ChunkedDecoder> decoder = TakeDecoder();
  const ServerSettings& settings = connection->server()->config->settings();
  decoder->Reset(settings.max_header_size, settings.max_header_lines);
  connection->message.LendDecoder(std::move(decoder));
  return InputPhase::kBodyChunked;
}

void Exchanges::MessageDone(Connection* connection) {
  connection->message.StopTime();
  connection->Enter(connection->message.is_last() ? InputPhase::kAfterClose : InputPhase::kHead);
  // If the answer came before the end of the request's body, the idle time begins only now.
  if (connection->message.unanswered() == 0 && connection->idle.timeout_ms() != 0) {
    transport_->StartIdleTimer(connection, connection->idle.timeout_ms());
  }
  if (connection->message.unanswered() == 0 && connection->server()->is_unlistened)
    LookWhetherIdle(connection);
}

void Exchanges::OnAnswered(Connection* connection) {
  connection->sharing.ForgetMoves();
  if (connection->origin() != nullptr) router_->OnRelayedAnswer(connection);
  connection->message.OnAnswered(1);
  const uint32_t most = connection->server()->config->settings().pipelined_requests_max;
  if (connection->message.unanswered() == 0) {
    // JavaScript decides when an upgraded or refused connection ends.
    const bool is_over = connection->end.peer_ended() &&
                         connection->phase() != InputPhase::kRefused &&
                         !IsTunnel(connection->phase());
    if (connection->phase() == InputPhase::kAfterClose || is_over) {
      transport_->FinishAfterOutput(connection, AfterOutput::kClose);
      return;
    }
    if (connection->phase() == InputPhase::kHead && connection->input.partial() == nullptr &&
        connection->idle.timeout_ms() != 0) {
      transport_->StartIdleTimer(connection, connection->idle.timeout_ms());
    }
    if (connection->phase() == InputPhase::kBodyLength ||
        connection->phase() == InputPhase::kBodyChunked) {
      TimeAnsweredBody(connection);
    }
    if ((connection->watch.pauses() & kPauseOrder) != 0 || connection->server()->is_unlistened) {
      connection->input.ResumeSoon();
    }
  }
  if ((connection->watch.pauses() & kPausePipeline) != 0 &&
      connection->message.unanswered() < most) {
    connection->input.ResumeSoon();
  }
}

void Exchanges::ReadAgain(Connection* connection, std::string_view requests, uint32_t count) {
  connection->message.OnAnswered(count);
  connection->Enter(InputPhase::kHead);
  connection->message.SetLast(false);
  connection->message.StopTime();
  connection->message.DropDecoder();
  connection->message.DropParser();
  connection->input.SetGiven(0);
  connection->input.KeepBefore(requests);
  SocketWatch::Resume(connection, kPauseUpgrade);
  SocketWatch::Resume(connection, kPausePipeline);
}

void Exchanges::TimeAnsweredBody(Connection* connection) {
  if (connection->message.unanswered() != 0 || connection->idle.timeout_ms() == 0) return;
  transport_->StartIdleTimer(connection, connection->idle.timeout_ms());
}

void Exchanges::OnKeptRead(Connection* connection) {
  const bool is_timed = connection->is_timer_running() || connection->idle.timeout_ms() == 0;
  if (is_timed || !connection->IsIdle()) return;
  transport_->StartIdleTimer(connection, connection->idle.timeout_ms());
  if (connection->server()->is_unlistened) LookWhetherIdle(connection);
}

// Makes the lane call EndIdle() after this pass, when the output has been given to the socket and
// the rest of the input has been read.
void Exchanges::LookWhetherIdle(Connection* connection) {
  connection->input.ResumeSoon();
  output_->Touch(connection);
}

void Exchanges::EndIdle(Connection* connection) {
  if (!connection->IsIdle() || router_->MoveAway(connection)) return;
  if (connection->server()->config->settings().ends_idle) CloseIdle(connection);
}

void Exchanges::CloseIdle(Connection* connection) {
  transport_->ReadNow(connection);
  const bool is_idle = connection->is_open() && (connection->IsIdle() || connection->IsUnserved());
  if (!is_idle) return;
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  // Send the end at once, before another request can arrive.
  output_->Flush(connection);
}

std::unique_ptr<http1::ChunkedDecoder> Exchanges::TakeDecoder() {
  if (decoders_.empty()) return std::make_unique<http1::ChunkedDecoder>();
  auto decoder = std::move(decoders_.back());
  decoders_.pop_back();
  return decoder;
}

void Exchanges::ReturnDecoder(std::unique_ptr<http1::ChunkedDecoder> decoder) {
  if (decoders_.size() < limits::kSpareParsersMax) decoders_.push_back(std::move(decoder));
}

}  // namespace httpsys::engine
