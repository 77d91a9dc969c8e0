#include "engine/http1/http1_replies.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "engine/connection/connected_socket.h"

namespace httpsys::engine {

using records::ReplyType;

bool Http1Replies::OnReply(Connection* connection, const ReplyRecord& reply) {
  switch (reply.type()) {
    case ReplyType::kResponse:
      OnResponse(connection, reply);
      return true;
    case ReplyType::kData:
      OnData(connection, reply);
      return true;
    case ReplyType::kBlock:
      OnBlock(connection, reply);
      return true;
    case ReplyType::kTrailers:
      OnTrailers(connection, reply);
      return true;
    case ReplyType::kEnd:
      End(connection, reply.flags() | records::kReplyEnd, reply.idle_timeout_ms());
      return true;
    case ReplyType::kWindow:
      input_->OnWindow(connection, reply.window_bytes());
      return true;
    case ReplyType::kShutdown:
      transport_->FinishAfterOutput(connection, AfterOutput::kShutdown);
      return true;
    case ReplyType::kDestroy:
      OnDestroy(connection, reply);
      return true;
    case ReplyType::kReset:
      transport_->Reset(connection);
      return true;
    case ReplyType::kSocketOption:
      SetOption(connection->fd, reply.socket_option());
      return true;
    case ReplyType::kIdleTimeout:
      OnIdleTimeout(connection, reply.idle_timeout_ms());
      return true;
    default:
      return false;
  }
}

// -- Bytes.

void Http1Replies::OnResponse(Connection* connection, const ReplyRecord& reply) {
  const ResponseReply& response = reply.response();
  if (!reply.has(records::kReplyChunked)) {
    output_->Send(connection, response.all(), response.all().size());
  } else {
    output_->Send(connection, response.head, response.head.size());
    SendBody(connection, response.body, reply.flags());
  }
  End(connection, reply.flags(), response.idle_timeout_ms);
}

void Http1Replies::OnData(Connection* connection, const ReplyRecord& reply) {
  const BytesReply data = reply.bytes();
  SendBody(connection, data.bytes, reply.flags());
  End(connection, reply.flags(), data.idle_timeout_ms);
}

void Http1Replies::SendBody(Connection* connection, std::string_view bytes, uint32_t flags) {
  // An empty chunk would end the body.
  if (bytes.empty()) return;
  const bool is_chunk = (flags & records::kReplyChunked) != 0;
  if (is_chunk) BeginChunk(connection, bytes.size());
  output_->Send(connection, bytes, bytes.size());
  if (is_chunk) output_->Send(connection, "\r\n", 0);
}

void Http1Replies::BeginChunk(Connection* connection, size_t bytes) {
  char line[20];
  char* end = std::to_chars(line, line + sizeof line - 2, bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  const std::string_view text(line, static_cast<size_t>(end - line));
  if (text.size() <= OutputPass::kCopyBytesMax) return output_->SendCopy(connection, text);
  // The line of a chunk (a file) of 1 TiB or more is too long for SendCopy().
  auto copy = std::make_shared<const std::string>(text);
  const std::string_view kept = *copy;
  output_->SendShared(connection, std::move(copy), kept, 0);
}

void Http1Replies::OnTrailers(Connection* connection, const ReplyRecord& reply) {
  const BytesReply lines = reply.bytes();
  output_->Send(connection, "0\r\n", 0);
  output_->Send(connection, lines.bytes, lines.bytes.size());
  output_->Send(connection, "\r\n", 0);
  const uint32_t flags = reply.flags() | records::kReplyEnd;
  End(connection, flags & ~uint32_t{records::kReplyChunked}, lines.idle_timeout_ms);
}

void Http1Replies::OnBlock(Connection* connection, const ReplyRecord& reply) {
  const uint32_t id = reply.block_id();
  LentMemory::View view;
  if (!connection->attachment().lent().Find(id, &view)) {
    return connection->attachment().replies().End(kUnknownBlock);
  }
  std::shared_ptr<const files::FilePart> file;
  if (view.data == nullptr) file = connection->attachment().files().Take(id);
  const uint64_t bytes = file == nullptr ? view.bytes : file->bytes;
  const bool is_chunk = reply.has(records::kReplyChunked) && bytes != 0;
  if (is_chunk) BeginChunk(connection, bytes);
  if (file != nullptr) {
    output_->SendFile(connection, id, std::move(file));
  } else {
    output_->SendBlock(connection, id, {reinterpret_cast<const char*>(view.data), view.bytes});
  }
  if (is_chunk) output_->Send(connection, "\r\n", 0);
  End(connection, reply.flags(), 0);
}

void Http1Replies::End(Connection* connection, uint32_t flags, uint32_t idle_timeout_ms) {
  if ((flags & records::kReplyEnd) == 0 || (flags & records::kReplyInterim) != 0) return;
  if ((flags & records::kReplyChunked) != 0) output_->Send(connection, "0\r\n\r\n", 0);
  output_->Touch(connection);
  ConnectionTimers::SetIdleTimeout(connection, idle_timeout_ms);
  connection->SetAnswerCloses((flags & records::kReplyClose) != 0);
  exchanges_->OnAnswered(connection);
  if ((flags & records::kReplyClose) != 0) {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  }
}

// -- Commands.

void Http1Replies::OnDestroy(Connection* connection, const ReplyRecord& reply) {
  if (reply.has(records::kReplyIfIdle)) {
    const bool is_unserved = reply.has(records::kReplyIfUnserved) && connection->IsUnserved();
    if (is_unserved || connection->IsIdle()) {
      if (reply.has(records::kReplyMayMove)) {
        // The reply that made the connection idle may still wait for this pass.
        output_->Flush(connection);
        if (!connection->is_open() || router_->MoveAway(connection)) return;
      }
      exchanges_->CloseIdle(connection);
    }
    return;
  }
  output_->Flush(connection);
  if (!connection->is_open()) return;
  // Linger: more bytes of a refused message are usually on their way, and would reset the
  // connection before the client reads the reply.
  const bool is_refused =
      connection->phase() == InputPhase::kRefused || connection->phase() == InputPhase::kOver;
  if (is_refused && !connection->end.peer_ended()) {
    transport_->CloseLingering(connection);
  } else {
    transport_->Close(connection, 0);
  }
}

void Http1Replies::OnIdleTimeout(Connection* connection, uint32_t timeout_ms) {
  ConnectionTimers::SetIdleTimeout(connection, timeout_ms);
  if (!connection->IsIdle()) return;
  if (timeout_ms != 0) {
    transport_->StartIdleTimer(connection, timeout_ms);
  } else {
    transport_->StopTimer(connection);
  }
}

}  // namespace httpsys::engine
