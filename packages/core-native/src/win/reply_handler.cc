#include "win/reply_handler.h"

#include <uv.h>

#include <charconv>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "records/words.h"

namespace httpsys::win {
namespace {

using records::ReplyType;

uint32_t FlagsOf(const uint8_t* record) { return LoadWord(record, 1) >> 8; }

std::string_view Bytes(const uint8_t* record, size_t at, size_t bytes) {
  HTTPSYS_CHECK(at + bytes <= LoadWord(record, 0));
  return {reinterpret_cast<const char*>(record) + at, bytes};
}

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
  while (handled < limits::kRepliesPerPass) {
    const uint8_t* record = replies_->Next();
    if (record == nullptr) break;
    ++handled;
    Handle(record);
  }
  if (handled == 0) return false;
  replies_->GiveBack();
  session_->Flush();
  return true;
}

void ReplyHandler::Handle(const uint8_t* record) {
  const uint32_t slot = LoadWord(record, 2);
  const auto type = static_cast<ReplyType>(LoadWord(record, 1) & 0xff);
  if (type == ReplyType::kRelease) return session_->Release(slot);
  KernelConnection* connection = session_->Find(slot);
  if (connection != nullptr) {
    HandleOpen(connection, record);
  } else if (type == ReplyType::kBlock) {
    DropBlock(LoadWord(record, 4));
  }
}

void ReplyHandler::DropBlock(uint32_t id) {
  files_->Take(id);
  lent_->Return(id);
  records_->BlockDone(id, -UV_ECANCELED);
}

// What is not here is for sockets and for WebSockets whose frames are native.
void ReplyHandler::HandleOpen(KernelConnection* connection, const uint8_t* record) {
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
    case ReplyType::kShutdown:
      return OnShutdown(connection);
    case ReplyType::kDestroy:
      return OnDestroy(connection, flags);
    case ReplyType::kReset:
      return session_->Reset(connection);
    case ReplyType::kUpgradeAccept:
      return session_->OnUpgrade(connection, (flags & records::kReplyUndecided) != 0);
    case ReplyType::kAskCertificate:
      return session_->AskCertificate(connection);
    case ReplyType::kCachePolicy:
      return OnCachePolicy(connection, record);
    case ReplyType::kIdleTimeout:
      return session_->StartIdleTimer(connection, LoadWord(record, 4));
    default:
      return;
  }
}

// -- Bytes.

void ReplyHandler::OnResponse(KernelConnection* connection, const uint8_t* record) {
  const uint32_t head_bytes = LoadWord(record, 4);
  const std::string_view all =
      Bytes(record, records::kResponseFixedBytes, size_t{head_bytes} + LoadWord(record, 5));
  if (Exchange* exchange = Session::Current(connection); exchange != nullptr) {
    exchange->Write(all.substr(0, head_bytes), head_bytes);
    WriteBody(exchange, all.substr(head_bytes), FlagsOf(record));
  }
  End(connection, FlagsOf(record), LoadWord(record, 7));
}

void ReplyHandler::OnData(KernelConnection* connection, const uint8_t* record) {
  if (Exchange* exchange = Session::Current(connection); exchange != nullptr) {
    WriteBody(exchange, Bytes(record, records::kPayloadAt, LoadWord(record, 4)), FlagsOf(record));
  }
  End(connection, FlagsOf(record), LoadWord(record, 5));
}

void ReplyHandler::WriteBody(Exchange* exchange, std::string_view bytes, uint32_t flags) {
  session_->Touch(exchange);
  // An empty chunk would end the body.
  if (bytes.empty()) return;
  const bool is_chunk = (flags & records::kReplyChunked) != 0;
  if (is_chunk) BeginChunk(exchange, bytes.size());
  exchange->Write(bytes, bytes.size());
  if (is_chunk) exchange->Write("\r\n", 0);
}

void ReplyHandler::OnTrailers(KernelConnection* connection, const uint8_t* record) {
  if (Exchange* exchange = Session::Current(connection); exchange != nullptr) {
    const std::string_view lines = Bytes(record, records::kPayloadAt, LoadWord(record, 4));
    exchange->Write("0\r\n", 0);
    exchange->Write(lines, lines.size());
    exchange->Write("\r\n", 0);
  }
  const uint32_t flags = FlagsOf(record) | records::kReplyEnd;
  End(connection, flags & ~uint32_t{records::kReplyChunked}, LoadWord(record, 5));
}

void ReplyHandler::OnBlock(KernelConnection* connection, const uint8_t* record) {
  const uint32_t id = LoadWord(record, 4);
  const uint32_t flags = FlagsOf(record);
  LentMemory::View view;
  HTTPSYS_CHECK(lent_->Find(id, &view));
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
    // Between two responses: the connection is to end without one, or after the one being sent.
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

void ReplyHandler::OnCachePolicy(KernelConnection* connection, const uint8_t* record) {
  Exchange* exchange = Session::Current(connection);
  if (exchange == nullptr) return;
  HTTPSYS_CHECK(exchange->cache_policy.Set(LoadWord(record, 4), LoadWord(record, 5)));
}

void ReplyHandler::OnShutdown(KernelConnection* connection) {
  End(connection, records::kReplyEnd | records::kReplyClose, 0);
}

void ReplyHandler::OnDestroy(KernelConnection* connection, uint32_t flags) {
  if ((flags & records::kReplyIfIdle) == 0) return session_->Destroy(connection);
  if (connection->exchanges.empty()) session_->Close(connection, 0);
}

}  // namespace httpsys::win
