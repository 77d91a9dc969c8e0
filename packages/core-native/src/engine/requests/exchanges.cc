#include "engine/requests/exchanges.h"

#include <utility>

#include "base/limits.h"

namespace httpsys::engine {

using http1::BodyKind;

InputPhase Exchanges::BeginBody(Connection* connection, const http1::RequestHead& head) {
  connection->body_bytes = head.body == BodyKind::kChunked ? 0 : head.content_length;
  if (head.body == BodyKind::kLength && head.content_length != 0) return InputPhase::kBodyLength;
  if (head.body != BodyKind::kChunked) return InputPhase::kHead;
  connection->decoder = TakeDecoder();
  const ServerSettings& settings = connection->server->config->settings();
  connection->decoder->Reset(settings.header_bytes_max, settings.header_lines_max);
  return InputPhase::kBodyChunked;
}

void Exchanges::MessageDone(Connection* connection) {
  connection->message_start_ns = 0;
  connection->Enter(connection->is_last_request ? InputPhase::kAfterClose : InputPhase::kHead);
  connection->raw.reset();
  // The answer may have come before the end of the request's body.
  if (connection->unanswered == 0 && connection->idle_timeout_ms != 0) {
    transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
  }
  if (connection->unanswered == 0 && connection->server->is_unlistened) LookWhetherIdle(connection);
}

void Exchanges::OnAnswered(Connection* connection) {
  connection->ForgetMoves();
  if (connection->origin() != nullptr) router_->OnRelayedAnswer(connection);
  if (connection->unanswered != 0) --connection->unanswered;
  const uint32_t most = connection->server->config->settings().pipelined_requests_max;
  if (connection->unanswered == 0) {
    // JavaScript decides when an upgraded or refused connection ends.
    const bool is_over = connection->peer_ended && connection->phase() != InputPhase::kRefused &&
                         !IsTunnel(connection->phase());
    if (connection->phase() == InputPhase::kAfterClose || is_over) {
      transport_->FinishAfterOutput(connection, AfterOutput::kClose);
      return;
    }
    if (connection->phase() == InputPhase::kHead && connection->partial == nullptr &&
        connection->idle_timeout_ms != 0) {
      transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
    }
    if (connection->phase() == InputPhase::kBodyLength ||
        connection->phase() == InputPhase::kBodyChunked) {
      TimeAnsweredBody(connection);
    }
    if ((connection->watch.pauses() & kPauseOrder) != 0 || connection->server->is_unlistened) {
      connection->wants_input_resumed = true;
    }
  }
  if ((connection->watch.pauses() & kPausePipeline) != 0 && connection->unanswered < most) {
    connection->wants_input_resumed = true;
  }
}

void Exchanges::TimeAnsweredBody(Connection* connection) {
  if (connection->unanswered != 0 || connection->idle_timeout_ms == 0) return;
  transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
}

void Exchanges::OnKeptRead(Connection* connection) {
  const bool is_timed = connection->is_timer_running() || connection->idle_timeout_ms == 0;
  if (is_timed || !connection->IsIdle()) return;
  transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
  if (connection->server->is_unlistened) LookWhetherIdle(connection);
}

// Ends the connection if it is idle, once its output has been given to the socket and the rest of
// its input has been read.
void Exchanges::LookWhetherIdle(Connection* connection) {
  connection->wants_input_resumed = true;
  output_->Touch(connection);
}

void Exchanges::EndIdle(Connection* connection) {
  if (!connection->IsIdle() || router_->MoveAway(connection)) return;
  if (!connection->server->config->settings().ends_idle) return;
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
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
