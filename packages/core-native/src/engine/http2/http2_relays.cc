#include "engine/http2/http2_relays.h"

#include <utility>

#include "base/limits.h"
#include "engine/connection/input.h"
#include "http2/request_text.h"

namespace httpsys::engine {

using http2::AppendChunk;
using http2::AppendLastChunk;
using http2::AppendRequestHead;

bool Http2Relays::Begin(Connection* connection, uint64_t member, const http1::RequestHead& head) {
  Http2Stream* stream = connection->stream.get();
  relayed_.clear();
  const http1::BodyKind body = AppendRequestHead(*methods_, head, &relayed_);
  if (!router_->RelayStream(connection, member, relayed_)) return false;
  connection->message.SetServed();
  connection->message.SetUnanswered(1);
  InputPhase phase =
      body == http1::BodyKind::kChunked ? InputPhase::kRelayChunked : InputPhase::kRelayLength;
  if (head.upgrade) phase = InputPhase::kRelayUpgrade;
  connection->Enter(phase);
  if (!stream->body.empty()) SendRelayed(connection, stream->body);
  if (stream->has_ended && connection->is_open()) EndRelayed(connection);
  return true;
}

void Http2Relays::RelayPiece(Connection* connection, std::string_view piece) {
  Http2Stream* stream = connection->stream.get();
  if (stream->fields != nullptr) {
    if (stream->body.size() + piece.size() > limits::kRelayKeptBytesMax) {
      connections_->ForgetRequest(connection);
    } else {
      stream->body.append(piece);
    }
  }
  SendRelayed(connection, piece);
}

void Http2Relays::SendRelayed(Connection* connection, std::string_view piece) {
  switch (connection->phase()) {
    case InputPhase::kRelayUpgrade:
      // Keep the bytes until the member decides; the client's window bounds their number.
      connection->input.Keep(piece);
      return;
    case InputPhase::kRelayChunked:
      relayed_.clear();
      AppendChunk(piece, &relayed_);
      router_->RelayMore(connection, relayed_);
      break;
    default:
      router_->RelayMore(connection, piece);
      break;
  }
  if (connection->is_open()) GiveRelayWindow(connection);
}

void Http2Relays::EndRelayed(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  switch (connection->phase()) {
    case InputPhase::kRelayChunked:
      relayed_.clear();
      AppendLastChunk(stream->request_trailers, &relayed_);
      router_->RelayMore(connection, relayed_);
      return;
    case InputPhase::kRelayUpgrade:
      stream->is_end_due = true;
      return;
    case InputPhase::kRelayOpaque:
      (void)router_->RelayEnd(connection);
      return;
    default:
      return;
  }
}

void Http2Relays::GiveRelayWindow(Connection* connection) {
  const size_t unsent = router_->UnsentBytes(connection);
  const uint32_t unread = connection->stream->unread_bytes;
  if (unread > unsent) connections_->GiveWindow(connection, unread - static_cast<uint32_t>(unsent));
}

void Http2Relays::OnRelayedBytes(Connection* connection, std::string_view bytes) {
  connections_->ForgetRequest(connection);
  (void)responses_->SendText(connection, std::make_shared<const std::string>(bytes), false);
}

void Http2Relays::OnRelayedUpgrade(Connection* connection, bool is_accepted) {
  Http2Stream* stream = connection->stream.get();
  connections_->ForgetRequest(connection);
  const std::unique_ptr<std::string> kept = connection->input.TakeKept();
  if (!is_accepted) {
    stream->is_declined = true;
    connection->Enter(InputPhase::kOver);
    return connections_->GiveWindow(connection, stream->unread_bytes);
  }
  connection->Enter(InputPhase::kRelayOpaque);
  if (kept != nullptr) SendRelayed(connection, *kept);
  if (connection->is_open() && std::exchange(stream->is_end_due, false)) EndRelayed(connection);
}

void Http2Relays::OnRelayEnded(Connection* connection, bool is_answer_due) {
  Http2Stream* stream = connection->stream.get();
  connections_->ForgetRequest(connection);
  if (!is_answer_due) {
    // No process reads the rest of the request.
    connection->Enter(InputPhase::kOver);
    stream->closes = true;
    return connections_->GiveWindow(connection, stream->unread_bytes);
  }
  const bool is_tunnel = stream->is_connect && !stream->is_declined;
  if (stream->is_answered && !is_tunnel && stream->response.is_whole()) {
    return responses_->OnEnd(connection, false, true);
  }
  responses_->OnDestroy(connection);
}

}  // namespace httpsys::engine
