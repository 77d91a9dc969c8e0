#include "engine/cache/substitute_replies.h"

#include "base/ascii.h"

namespace httpsys::engine {
namespace {

using records::ReplyType;

constexpr uint32_t kEndFlags = records::kReplyEnd | records::kReplyClose;

uint32_t IdleTimeoutOf(const ReplyRecord& reply) {
  switch (reply.type()) {
    case ReplyType::kResponse:
      return reply.response().idle_timeout_ms;
    case ReplyType::kData:
    case ReplyType::kTrailers:
      return reply.bytes().idle_timeout_ms;
    case ReplyType::kEnd:
      return reply.idle_timeout_ms();
    default:
      return 0;
  }
}

// Returns the status in a status line; 0 = the text begins with none.
int StatusOf(std::string_view text) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  constexpr size_t kDigits = 3;
  if (!text.starts_with("HTTP/1.") || text.size() < kVersion.size() + kDigits) return 0;
  int status = 0;
  for (const char digit : text.substr(kVersion.size(), kDigits)) {
    if (!IsDigit(digit)) return 0;
    status = status * 10 + (digit - '0');
  }
  return text[kVersion.size() - 1] == ' ' && status >= 100 ? status : 0;
}

// Appends a head, with `lines` inserted before its blank line.
void AppendHead(std::string_view head, std::string_view lines, std::string* to) {
  constexpr std::string_view kLineEnd = "\r\n";
  to->append(head.substr(0, head.size() - kLineEnd.size())).append(lines).append(kLineEnd);
}

}  // namespace

ReplyRecord SubstituteReplies::Answer(const ReplyRecord& reply, const UsedEntry& entry,
                                      const http1::RequestHead& request,
                                      std::string_view keep_alive, int64_t now_s) {
  const bool closes = reply.has(records::kReplyClose);
  answer_.Make(entry, {&request, false, closes}, now_s);
  std::string& text = texts_.emplace_back();
  AppendHead(answer_.head(), closes ? "Connection: close\r\n" : keep_alive, &text);
  const size_t head_bytes = text.size();
  for (const std::string_view piece : answer_.pieces()) text.append(piece);
  const std::string_view all = text;
  return ReplyRecord::Response(
      reply.slot(), reply.flags() & kEndFlags,
      {all.substr(0, head_bytes), all.substr(head_bytes), IdleTimeoutOf(reply)});
}

ReplyRecord SubstituteReplies::WithFields(const ReplyRecord& reply, size_t head_bytes,
                                          std::string_view lines) {
  const bool is_response = reply.type() == ReplyType::kResponse;
  const std::string_view all = is_response ? reply.response().all() : reply.bytes().bytes;
  std::string& text = texts_.emplace_back();
  text.reserve(all.size() + lines.size());
  AppendHead(all.substr(0, head_bytes), lines, &text);
  text.append(all.substr(head_bytes));
  const std::string_view view = text;
  if (!is_response) {
    return ReplyRecord::Data(reply.slot(), reply.flags(), {view, reply.bytes().idle_timeout_ms});
  }
  const size_t end = head_bytes + lines.size();
  return ReplyRecord::Response(
      reply.slot(), reply.flags(),
      {view.substr(0, end), view.substr(end), reply.response().idle_timeout_ms});
}

ReplyRecord SubstituteReplies::HeadOfBlock(const ReplyRecord& reply, std::string_view head,
                                           std::string_view lines) {
  std::string& text = texts_.emplace_back();
  AppendHead(head, lines, &text);
  return ReplyRecord::Data(reply.slot(), reply.flags() & ~kEndFlags, {text, 0});
}

ReplyRecord SubstituteReplies::End(const ReplyRecord& reply, bool closes) {
  const uint32_t close = closes ? uint32_t{records::kReplyClose} : 0;
  return ReplyRecord::End(reply.slot(), (reply.flags() & kEndFlags) | records::kReplyEnd | close,
                          IdleTimeoutOf(reply));
}

FoundHead FindHead(std::string_view text) {
  constexpr std::string_view kBlankLine = "\r\n\r\n";
  constexpr int kSwitchingProtocols = 101;
  FoundHead found;
  while (found.end < text.size()) {
    const int status = StatusOf(text.substr(found.end));
    const size_t blank = text.find(kBlankLine, found.end);
    if (status == 0 || status == kSwitchingProtocols || blank == std::string_view::npos) return {};
    const size_t end = blank + kBlankLine.size();
    found.is_interim = status < 200;
    if (!found.is_interim) found.head = text.substr(found.end, end - found.end);
    found.end = end;
    if (!found.is_interim) break;
  }
  return found;
}

size_t CountedBytes(const ReplyRecord& reply) {
  switch (reply.type()) {
    case ReplyType::kResponse:
      return reply.response().all().size();
    case ReplyType::kData:
    case ReplyType::kTrailers:
      return reply.bytes().bytes.size();
    default:
      return 0;
  }
}

}  // namespace httpsys::engine
