#include "engine/reply_processor.h"

#include <cerrno>
#include <charconv>

#include "base/check.h"
#include "base/limits.h"
#include "engine/connection/socket_options.h"
#include "records/words.h"

namespace httpsys::engine {
namespace {

using records::ReplyType;

constexpr uint32_t kOptionNoDelay = 1;
constexpr uint32_t kOptionKeepAlive = 2;

uint32_t FlagsOf(const uint8_t* record) { return LoadWord(record, 1) >> 8; }

std::string_view Bytes(const uint8_t* record, size_t at, size_t bytes) {
  HTTPSYS_CHECK(at + bytes <= LoadWord(record, 0));
  return {reinterpret_cast<const char*>(record) + at, bytes};
}

}  // namespace

bool ReplyProcessor::Run() {
  int handled = 0;
  while (handled < limits::kRepliesPerPass) {
    const uint8_t* record = replies_->Next();
    if (record == nullptr) break;
    ++handled;
    Handle(record);
  }
  if (handled == 0) return false;
  transport_->FlushTouched(&touched_);
  replies_->GiveBack();
  session_->ResumeWanted(touched_);
  return true;
}

void ReplyProcessor::Handle(const uint8_t* record) {
  const uint32_t slot = LoadWord(record, 2);
  const auto type = static_cast<ReplyType>(LoadWord(record, 1) & 0xff);
  if (type == ReplyType::kRelease) {
    transport_->ReleaseSlot(slot);
    return;
  }
  if (HandleBroadcast(type, record)) return;
  Connection* connection = transport_->Find(slot);
  if (connection != nullptr) {
    HandleOpen(connection, record);
  } else if (type == ReplyType::kBlock || type == ReplyType::kFrameBlock) {
    lent_->Return(LoadWord(record, 4));
    records_->BlockDone(LoadWord(record, 4), ECANCELED);
  }
}

// Those that name their connections themselves.
bool ReplyProcessor::HandleBroadcast(ReplyType type, const uint8_t* record) {
  if (type == ReplyType::kBroadcast) {
    websockets_->OnBroadcast(record);
  } else if (type == ReplyType::kBroadcastBlock) {
    websockets_->OnBroadcastBlock(record);
  } else {
    return false;
  }
  return true;
}

void ReplyProcessor::HandleOpen(Connection* connection, const uint8_t* record) {
  if (connection->http2 != nullptr) return HandleHttp2(connection, record);
  if (connection->stream != nullptr && HandleStream(connection, record)) return;
  const uint32_t flags = FlagsOf(record);
  switch (static_cast<ReplyType>(LoadWord(record, 1) & 0xff)) {
    case ReplyType::kResponse:
      return OnResponse(connection, record);
    case ReplyType::kData:
      return OnData(connection, record);
    case ReplyType::kBlock:
      return OnBlock(connection, record);
    case ReplyType::kTrailers:
      return OnTrailers(connection, record);
    case ReplyType::kEnd:
      return End(connection, flags | records::kReplyEnd, LoadWord(record, 4));
    case ReplyType::kWindow:
      return session_->OnWindow(connection, LoadWord(record, 4));
    case ReplyType::kUpgradeAccept:
      return session_->OnUpgradeAccept(connection, (flags & records::kReplyUndecided) != 0);
    case ReplyType::kUpgradeDecline:
      return session_->OnUpgradeDecline(connection);
    case ReplyType::kShutdown:
      return transport_->FinishAfterOutput(connection, AfterOutput::kShutdown);
    case ReplyType::kDestroy:
      return OnDestroy(connection, flags);
    case ReplyType::kReset:
      return transport_->Reset(connection);
    case ReplyType::kSocketOption:
      return OnSocketOption(connection, record);
    case ReplyType::kIdleTimeout:
      return OnIdleTimeout(connection, LoadWord(record, 4));
    case ReplyType::kWebSocket:
      return session_->OnWebSocket(connection, websockets_->OnWebSocket(connection, record));
    case ReplyType::kFrame:
      return websockets_->OnFrame(connection, record);
    case ReplyType::kFrameBlock:
      return websockets_->OnFrameBlock(connection, record);
    case ReplyType::kBroadcast:
    case ReplyType::kBroadcastBlock:
    case ReplyType::kCachePolicy:     // For a kernel that keeps responses,
    case ReplyType::kAskCertificate:  // and has the connection's TLS.
    case ReplyType::kJump:
    case ReplyType::kRelease:
      return;
  }
}

// -- Bytes.

void ReplyProcessor::OnResponse(Connection* connection, const uint8_t* record) {
  const uint32_t head_bytes = LoadWord(record, 4);
  const uint32_t body_bytes = LoadWord(record, 5);
  const uint32_t flags = FlagsOf(record);
  const std::string_view all =
      Bytes(record, records::kResponseFixedBytes, size_t{head_bytes} + body_bytes);
  if ((flags & records::kReplyChunked) == 0) {
    transport_->Send(connection, all, all.size());
  } else {
    transport_->Send(connection, all.substr(0, head_bytes), head_bytes);
    SendBody(connection, all.substr(head_bytes), flags);
  }
  End(connection, flags, LoadWord(record, 7));
}

void ReplyProcessor::OnData(Connection* connection, const uint8_t* record) {
  SendBody(connection, Bytes(record, records::kPayloadAt, LoadWord(record, 4)), FlagsOf(record));
  End(connection, FlagsOf(record), LoadWord(record, 5));
}

void ReplyProcessor::SendBody(Connection* connection, std::string_view bytes, uint32_t flags) {
  // An empty chunk would end the body.
  if (bytes.empty()) return;
  const bool is_chunk = (flags & records::kReplyChunked) != 0;
  if (is_chunk) BeginChunk(connection, bytes.size());
  transport_->Send(connection, bytes, bytes.size());
  if (is_chunk) transport_->Send(connection, "\r\n", 0);
}

void ReplyProcessor::BeginChunk(Connection* connection, size_t bytes) {
  char line[20];
  char* end = std::to_chars(line, line + sizeof line - 2, bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  transport_->SendCopy(connection, {line, static_cast<size_t>(end - line)});
}

void ReplyProcessor::OnTrailers(Connection* connection, const uint8_t* record) {
  const std::string_view lines = Bytes(record, records::kPayloadAt, LoadWord(record, 4));
  transport_->Send(connection, "0\r\n", 0);
  transport_->Send(connection, lines, lines.size());
  transport_->Send(connection, "\r\n", 0);
  const uint32_t flags = FlagsOf(record) | records::kReplyEnd;
  End(connection, flags & ~uint32_t{records::kReplyChunked}, LoadWord(record, 5));
}

void ReplyProcessor::OnBlock(Connection* connection, const uint8_t* record) {
  const uint32_t id = LoadWord(record, 4);
  const uint32_t flags = FlagsOf(record);
  LentMemory::View view;
  HTTPSYS_CHECK(lent_->Find(id, &view));
  const bool is_chunk = (flags & records::kReplyChunked) != 0 && view.bytes != 0;
  if (is_chunk) BeginChunk(connection, view.bytes);
  transport_->SendBlock(connection, id, {reinterpret_cast<const char*>(view.data), view.bytes});
  if (is_chunk) transport_->Send(connection, "\r\n", 0);
  End(connection, flags, 0);
}

void ReplyProcessor::End(Connection* connection, uint32_t flags, uint32_t idle_timeout_ms) {
  if ((flags & records::kReplyEnd) == 0 || (flags & records::kReplyInterim) != 0) return;
  if ((flags & records::kReplyChunked) != 0) transport_->Send(connection, "0\r\n\r\n", 0);
  transport_->Touch(connection);
  connection->idle_timeout_ms = idle_timeout_ms;
  if (connection->origin != nullptr) {
    connection->origin->closes = (flags & records::kReplyClose) != 0;
  }
  session_->OnAnswered(connection);
  if ((flags & records::kReplyClose) != 0) {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  }
}

// -- HTTP/2.

// What is about a connection. Bytes that an application writes on it have no place there.
void ReplyProcessor::HandleHttp2(Connection* connection, const uint8_t* record) {
  const uint32_t flags = FlagsOf(record);
  switch (static_cast<ReplyType>(LoadWord(record, 1) & 0xff)) {
    case ReplyType::kBlock:
      return transport_->ReturnBlock(LoadWord(record, 4));
    case ReplyType::kEnd:
    case ReplyType::kShutdown:
      return http2_->Shutdown(connection);
    case ReplyType::kDestroy:
      if ((flags & records::kReplyIfIdle) != 0) return http2_->Shutdown(connection);
      return http2_->Close(connection);
    case ReplyType::kReset:
      return transport_->Reset(connection);
    case ReplyType::kSocketOption:
      return OnSocketOption(connection, record);
    case ReplyType::kIdleTimeout:
      return http2_->OnIdleTimeout(connection, LoadWord(record, 4));
    default:
      return;
  }
}

bool ReplyProcessor::HandleStream(Connection* stream, const uint8_t* record) {
  const uint32_t flags = FlagsOf(record);
  const bool is_unframed = (flags & records::kReplyChunked) != 0;
  switch (static_cast<ReplyType>(LoadWord(record, 1) & 0xff)) {
    case ReplyType::kResponse: {
      const uint32_t head_bytes = LoadWord(record, 4);
      const std::string_view all =
          Bytes(record, records::kResponseFixedBytes, size_t{head_bytes} + LoadWord(record, 5));
      const std::string_view body = all.substr(head_bytes);
      http2_->OnHead(stream, all.substr(0, head_bytes),
                     body.empty() && (flags & records::kReplyEnd) != 0);
      if (!stream->is_open()) return true;
      transport_->Credit(stream, head_bytes);
      is_unframed ? http2_->OnBody(stream, body) : http2_->OnText(stream, body);
      EndStream(stream, flags, LoadWord(record, 7));
      return true;
    }
    case ReplyType::kData: {
      const std::string_view bytes = Bytes(record, records::kPayloadAt, LoadWord(record, 4));
      is_unframed ? http2_->OnBody(stream, bytes) : http2_->OnText(stream, bytes);
      EndStream(stream, flags, LoadWord(record, 5));
      return true;
    }
    case ReplyType::kBlock:
      OnStreamBlock(stream, record);
      return true;
    case ReplyType::kTrailers:
      http2_->OnTrailers(stream, Bytes(record, records::kPayloadAt, LoadWord(record, 4)));
      transport_->Credit(stream, LoadWord(record, 4));
      EndStream(stream, flags | records::kReplyEnd, LoadWord(record, 5));
      return true;
    case ReplyType::kEnd:
      EndStream(stream, flags | records::kReplyEnd, LoadWord(record, 4));
      return true;
    case ReplyType::kShutdown:
      http2_->OnEnd(stream, false, false);
      return true;
    case ReplyType::kDestroy:
      if ((flags & records::kReplyIfIdle) == 0) http2_->OnDestroy(stream);
      return true;
    case ReplyType::kWindow:
      http2_->OnWindow(stream, LoadWord(record, 4));
      return true;
    case ReplyType::kUpgradeDecline:
      http2_->OnUpgradeDecline(stream);
      return true;
    case ReplyType::kSocketOption:
    case ReplyType::kIdleTimeout:
      return true;
    default:
      return false;
  }
}

void ReplyProcessor::OnStreamBlock(Connection* stream, const uint8_t* record) {
  const uint32_t id = LoadWord(record, 4);
  const uint32_t flags = FlagsOf(record);
  LentMemory::View view;
  HTTPSYS_CHECK(lent_->Find(id, &view));
  http2_->OnBlock(stream, id, {reinterpret_cast<const char*>(view.data), view.bytes},
                  (flags & records::kReplyChunked) != 0);
  EndStream(stream, flags, 0);
}

void ReplyProcessor::EndStream(Connection* stream, uint32_t flags, uint32_t idle_timeout_ms) {
  if (!stream->is_open() || (flags & records::kReplyEnd) == 0 ||
      (flags & records::kReplyInterim) != 0) {
    return;
  }
  if (Http2State* state = stream->stream->state; state != nullptr && idle_timeout_ms != 0) {
    state->connection->idle_timeout_ms = idle_timeout_ms;
  }
  http2_->OnEnd(stream, (flags & records::kReplyChunked) != 0, (flags & records::kReplyClose) != 0);
}

// -- Commands.

void ReplyProcessor::OnDestroy(Connection* connection, uint32_t flags) {
  if ((flags & records::kReplyIfIdle) != 0) {
    const bool is_unserved =
        (flags & records::kReplyIfUnserved) != 0 && Http1Session::IsUnserved(connection);
    if (is_unserved || Http1Session::IsIdle(connection)) {
      if ((flags & records::kReplyMayMove) != 0) {
        // The reply that has made it idle may be of this pass.
        transport_->Flush(connection);
        if (!connection->is_open() || router_->MoveAway(connection)) return;
      }
      transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    }
    return;
  }
  transport_->Flush(connection);
  if (!connection->is_open()) return;
  // After a refusal there is usually more on its way; it must not destroy the reply.
  const bool is_refused =
      connection->phase == InputPhase::kRefused || connection->phase == InputPhase::kOver;
  if (is_refused && !connection->peer_ended) {
    transport_->CloseLingering(connection);
  } else {
    transport_->Close(connection, 0);
  }
}

void ReplyProcessor::OnSocketOption(Connection* connection, const uint8_t* record) {
  const bool on = LoadWord(record, 5) != 0;
  if (LoadWord(record, 4) == kOptionNoDelay) SetNoDelay(connection->fd, on);
  if (LoadWord(record, 4) == kOptionKeepAlive) {
    SetKeepAlive(connection->fd, on, LoadWord(record, 6));
  }
}

void ReplyProcessor::OnIdleTimeout(Connection* connection, uint32_t timeout_ms) {
  connection->idle_timeout_ms = timeout_ms;
  if (!Http1Session::IsIdle(connection)) return;
  if (timeout_ms != 0) {
    transport_->StartIdleTimer(connection, timeout_ms);
  } else {
    transport_->StopTimer(connection);
  }
}

}  // namespace httpsys::engine
