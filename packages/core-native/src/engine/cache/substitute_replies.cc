#include "engine/cache/substitute_replies.h"

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

}  // namespace

ReplyRecord SubstituteReplies::Answer(const ReplyRecord& reply, const UsedEntry& entry,
                                      const http1::RequestHead& request, int64_t now_s) {
  answer_.Make(entry, {&request, false, reply.has(records::kReplyClose)}, now_s);
  std::string& text = texts_.emplace_back(answer_.head());
  const size_t head_bytes = text.size();
  for (const std::string_view piece : answer_.pieces()) text.append(piece);
  const std::string_view all = text;
  return ReplyRecord::Response(
      reply.slot(), reply.flags() & kEndFlags,
      {all.substr(0, head_bytes), all.substr(head_bytes), IdleTimeoutOf(reply)});
}

ReplyRecord SubstituteReplies::WithFields(const ReplyRecord& reply, std::string_view lines) {
  const ResponseReply& response = reply.response();
  // Without the empty line.
  std::string& text = texts_.emplace_back(response.head.substr(0, response.head.size() - 2));
  text.append(lines).append("\r\n");
  const size_t head_bytes = text.size();
  text.append(response.body);
  const std::string_view all = text;
  return ReplyRecord::Response(
      reply.slot(), reply.flags(),
      {all.substr(0, head_bytes), all.substr(head_bytes), response.idle_timeout_ms});
}

ReplyRecord SubstituteReplies::End(const ReplyRecord& reply, bool closes) {
  const uint32_t close = closes ? uint32_t{records::kReplyClose} : 0;
  return ReplyRecord::End(reply.slot(), (reply.flags() & kEndFlags) | records::kReplyEnd | close,
                          IdleTimeoutOf(reply));
}

std::string_view HeadIn(const ReplyRecord& reply) {
  if (reply.type() == ReplyType::kResponse) return reply.response().head;
  if (reply.type() != ReplyType::kData || reply.has(records::kReplyChunked)) return {};
  const std::string_view bytes = reply.bytes().bytes;
  const size_t end = bytes.find("\r\n\r\n");
  return end == std::string_view::npos ? std::string_view() : bytes.substr(0, end + 4);
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
