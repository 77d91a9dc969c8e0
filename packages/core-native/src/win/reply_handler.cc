#include "win/reply_handler.h"

#include <uv.h>

#include <charconv>
#include <memory>
#include <utility>

#include "base/limits.h"

namespace httpsys::win {
namespace {

using records::ReplyType;

void BeginChunk(Exchange* exchange, size_t bytes) {
  char line[20];
  char* end = std::to_chars(line, line + sizeof line - 2, bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  exchange->Write({line, static_cast<size_t>(end - line)}, 0);
}

}  // namespace

bool ReplyHandler::Run() {
  int handled = 0;
  ReplyRecord reply;
  while (handled < limits::kRepliesPerPass && replies_->NextOrEnd(&reply)) {
    ++handled;
    Handle(reply);
  }
  if (handled == 0) return false;
  replies_->GiveBack();
  session_->Flush();
  return true;
}

void ReplyHandler::Handle(const ReplyRecord& reply) {
  if (reply.type() == ReplyType::kRelease) return session_->Release(reply.slot());
  KernelConnection* connection = session_->Find(reply.slot());
  if (connection != nullptr) {
    HandleOpen(connection, reply);
  } else if (reply.type() == ReplyType::kBlock) {
    DropBlock(reply.block_id());
  }
}

void ReplyHandler::DropBlock(uint32_t id) {
  files_->Take(id);
  lent_->Return(id);
  records_->BlockDone(id, -UV_ECANCELED);
}

// Handles replies for an open connection, except types for sockets and native WebSockets.
void ReplyHandler::HandleOpen(KernelConnection* connection, const ReplyRecord& reply) {
  switch (reply.type()) {
    case ReplyType::kResponse:
      return OnResponse(connection, reply);
    case ReplyType::kData:
      return OnData(connection, reply);
    case ReplyType::kBlock:
      return OnBlock(connection, reply);
    case ReplyType::kTrailers:
      return OnTrailers(connection, reply);
    case ReplyType::kEnd:
      return End(connection, reply.flags() | records::kReplyEnd, reply.idle_timeout_ms());
    case ReplyType::kWindow:
      return session_->OnWindow(connection, reply.window_bytes());
    case ReplyType::kShutdown:
      return OnShutdown(connection);
    case ReplyType::kDestroy:
      return OnDestroy(connection, reply.flags());
    case ReplyType::kReset:
      return session_->Reset(connection);
    case ReplyType::kUpgradeAccept:
      return session_->OnUpgrade(connection, reply.has(records::kReplyUndecided));
    case ReplyType::kAskCertificate:
      return session_->AskCertificate(connection);
    case ReplyType::kRefuseBody:
      return OnRefuseBody(connection);
    case ReplyType::kAskSilence:
      return records_->Silence(connection->slot, records::kSilenceUnknown, 0, 0);
    case ReplyType::kCachePolicy:
      return OnCachePolicy(connection, reply);
    case ReplyType::kIdleTimeout:
      return session_->StartIdleTimer(connection, reply.idle_timeout_ms());
    default:
      return;
  }
}

// -- Bytes.

void ReplyHandler::OnResponse(KernelConnection* connection, const ReplyRecord& reply) {
  const ResponseReply& response = reply.response();
  if (Exchange* exchange = Session::Current(connection); exchange != nullptr) {
    exchange->Write(response.head, response.head.size());
    WriteBody(exchange, response.body, reply.flags());
  }
  End(connection, reply.flags(), response.idle_timeout_ms);
}

void ReplyHandler::OnData(KernelConnection* connection, const ReplyRecord& reply) {
  const BytesReply data = reply.bytes();
  if (Exchange* exchange = Session::Current(connection); exchange != nullptr) {
    WriteBody(exchange, data.bytes, reply.flags());
  }
  End(connection, reply.flags(), data.idle_timeout_ms);
}

void ReplyHandler::WriteBody(Exchange* exchange, std::string_view bytes, uint32_t flags) {
  session_->Touch(exchange);
  // Write nothing: an empty chunk would end the body.
  if (bytes.empty()) return;
  const bool is_chunk = (flags & records::kReplyChunked) != 0;
  if (is_chunk) BeginChunk(exchange, bytes.size());
  exchange->Write(bytes, bytes.size());
  if (is_chunk) exchange->Write("\r\n", 0);
}

void ReplyHandler::OnTrailers(KernelConnection* connection, const ReplyRecord& reply) {
  const BytesReply lines = reply.bytes();
  if (Exchange* exchange = Session::Current(connection); exchange != nullptr) {
    exchange->Write("0\r\n", 0);
    exchange->Write(lines.bytes, lines.bytes.size());
    exchange->Write("\r\n", 0);
  }
  const uint32_t flags = reply.flags() | records::kReplyEnd;
  End(connection, flags & ~uint32_t{records::kReplyChunked}, lines.idle_timeout_ms);
}

void ReplyHandler::OnBlock(KernelConnection* connection, const ReplyRecord& reply) {
  const uint32_t id = reply.block_id();
  const uint32_t flags = reply.flags();
  LentMemory::View view;
  if (!lent_->Find(id, &view)) return replies_->End(kUnknownBlock);
  Exchange* exchange = Session::Current(connection);
  if (exchange == nullptr) return DropBlock(id);
  std::unique_ptr<SentFile> file = files_->Take(id);
  const size_t bytes = file != nullptr ? static_cast<size_t>(file->bytes()) : view.bytes;
  const bool is_chunk = (flags & records::kReplyChunked) != 0 && bytes != 0;
  if (is_chunk) BeginChunk(exchange, bytes);
  if (file != nullptr) {
    exchange->WriteFile(id, std::move(file));
  } else {
    exchange->WriteBlock(id, {view.data, view.bytes});
  }
  if (is_chunk) exchange->Write("\r\n", 0);
  session_->Touch(exchange);
  End(connection, flags, 0);
}

void ReplyHandler::End(KernelConnection* connection, uint32_t flags, uint32_t idle_timeout_ms) {
  if ((flags & records::kReplyEnd) == 0 || (flags & records::kReplyInterim) != 0) return;
  const bool closes = (flags & records::kReplyClose) != 0;
  Exchange* exchange = Session::Current(connection);
  if (exchange == nullptr) {
    // No response has begun: the connection must end now, or after the response that is being sent.
    if (!closes) return;
    if (connection->exchanges.empty()) return session_->Close(connection, 0);
    return connection->exchanges.back()->CloseBehind();
  }
  if ((flags & records::kReplyChunked) != 0) exchange->Write("0\r\n\r\n", 0);
  connection->idle_timeout_ms = idle_timeout_ms;
  exchange->End(closes);
  session_->Touch(exchange);
}

// -- Commands.

void ReplyHandler::OnCachePolicy(KernelConnection* connection, const ReplyRecord& reply) {
  Exchange* exchange = Session::Current(connection);
  if (exchange == nullptr) return;
  const CachePolicyReply policy = reply.cache_policy();
  if (!exchange->cache_policy.Set(policy.kind, policy.seconds)) {
    replies_->End("has a policy of caching that does not exist");
  }
}

// Send the answer to a refused body although JavaScript destroys the connection right after it,
// unless other requests must be answered before.
void ReplyHandler::OnRefuseBody(KernelConnection* connection) {
  if (connection->exchanges.size() == 1) connection->exchanges.front()->is_refused = true;
}

void ReplyHandler::OnShutdown(KernelConnection* connection) {
  End(connection, records::kReplyEnd | records::kReplyClose, 0);
}

void ReplyHandler::OnDestroy(KernelConnection* connection, uint32_t flags) {
  if ((flags & records::kReplyIfIdle) == 0) return session_->Destroy(connection);
  if (connection->exchanges.empty()) session_->Close(connection, 0);
}

}  // namespace httpsys::win
