#include "engine/http2/http2_replies.h"

#include "engine/connection/connected_socket.h"

namespace httpsys::engine {

// Handles replies for the connection itself. Bytes that an application writes to an HTTP/2
// connection have no meaning and are dropped.
bool Http2Replies::OnReply(Connection* connection, const ReplyRecord& reply) {
  using records::ReplyType;
  if (connection->http2 == nullptr) return OnStreamReply(connection, reply);
  switch (reply.type()) {
    case ReplyType::kBlock:
      connection->attachment().DropBlock(reply.block_id(), 0);
      break;
    case ReplyType::kEnd:
    case ReplyType::kShutdown:
      connections_->Shutdown(connection);
      break;
    case ReplyType::kDestroy:
      reply.has(records::kReplyIfIdle) ? connections_->Shutdown(connection)
                                       : connections_->Close(connection);
      break;
    case ReplyType::kReset:
      transport_->Reset(connection);
      break;
    case ReplyType::kSocketOption:
      SetOption(connection->fd, reply.socket_option());
      break;
    case ReplyType::kIdleTimeout:
      connections_->OnIdleTimeout(connection, reply.idle_timeout_ms());
      break;
    default:
      break;
  }
  return true;
}

bool Http2Replies::OnStreamReply(Connection* stream, const ReplyRecord& reply) {
  using records::ReplyType;
  const bool is_unframed = reply.has(records::kReplyChunked);
  switch (reply.type()) {
    case ReplyType::kResponse: {
      const ResponseReply response = reply.response();
      const std::string_view body = response.body;
      responses_->OnHead(stream, response.head, body.empty() && reply.has(records::kReplyEnd));
      if (!stream->is_open()) return true;
      output_->Credit(stream, response.head.size());
      is_unframed ? responses_->OnBody(stream, body) : responses_->OnText(stream, body);
      EndStream(stream, reply.flags(), response.idle_timeout_ms);
      return true;
    }
    case ReplyType::kData: {
      const BytesReply data = reply.bytes();
      is_unframed ? responses_->OnBody(stream, data.bytes) : responses_->OnText(stream, data.bytes);
      EndStream(stream, reply.flags(), data.idle_timeout_ms);
      return true;
    }
    case ReplyType::kBlock:
      OnStreamBlock(stream, reply);
      return true;
    case ReplyType::kTrailers: {
      const BytesReply lines = reply.bytes();
      responses_->OnTrailers(stream, lines.bytes);
      output_->Credit(stream, lines.bytes.size());
      EndStream(stream, reply.flags() | records::kReplyEnd, lines.idle_timeout_ms);
      return true;
    }
    case ReplyType::kEnd:
      EndStream(stream, reply.flags() | records::kReplyEnd, reply.idle_timeout_ms());
      return true;
    case ReplyType::kShutdown:
      responses_->OnEnd(stream, false, false);
      return true;
    case ReplyType::kDestroy:
      if (!reply.has(records::kReplyIfIdle)) responses_->OnDestroy(stream);
      return true;
    case ReplyType::kWindow:
      requests_->OnWindow(stream, reply.window_bytes());
      return true;
    case ReplyType::kUpgradeDecline:
      requests_->OnUpgradeDecline(stream);
      return true;
    case ReplyType::kRefuseBody:
      requests_->OnRefuseBody(stream, reply);
      return true;
    case ReplyType::kSocketOption:
    case ReplyType::kIdleTimeout:
      return true;
    default:
      return false;
  }
}

void Http2Replies::OnStreamBlock(Connection* stream, const ReplyRecord& reply) {
  const uint32_t id = reply.block_id();
  LentMemory::View view;
  if (!stream->attachment().lent().Find(id, &view)) {
    return stream->attachment().replies().End(kUnknownBlock);
  }
  if (view.data == nullptr) {
    std::shared_ptr<const files::FilePart> part = stream->attachment().files().Take(id);
    if (part == nullptr) return stream->attachment().replies().End(kUnknownBlock);
    responses_->OnFile(stream, id, std::move(part), reply.has(records::kReplyChunked));
  } else {
    responses_->OnBlock(stream, id, {reinterpret_cast<const char*>(view.data), view.bytes},
                        reply.has(records::kReplyChunked));
  }
  EndStream(stream, reply.flags(), 0);
}

void Http2Replies::EndStream(Connection* stream, uint32_t flags, uint32_t idle_timeout_ms) {
  if (!stream->is_open() || (flags & records::kReplyEnd) == 0 ||
      (flags & records::kReplyInterim) != 0) {
    return;
  }
  if (Http2State* state = stream->stream->state; state != nullptr && idle_timeout_ms != 0) {
    ConnectionTimers::SetIdleTimeout(state->connection, idle_timeout_ms);
  }
  responses_->OnEnd(stream, (flags & records::kReplyChunked) != 0,
                    (flags & records::kReplyClose) != 0);
}

}  // namespace httpsys::engine
