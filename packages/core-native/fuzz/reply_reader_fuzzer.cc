// Reads the input as what an application's process has published: a segment with replies, cut short
// where the first byte says. Traps when a reply says that it has bytes which its segment has not,
// or when a reader goes on behind a malformed one.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "records/control_block.h"
#include "records/reply_reader.h"

namespace {

using httpsys::ReplyReader;
using httpsys::ReplyRecord;
using httpsys::records::ReplyType;

void Check(bool promise) {
  if (!promise) std::abort();
}

// Touches each byte: the sanitizer sees those that are no part of the memory.
void Touch(std::string_view bytes, std::span<const uint8_t> segment) {
  if (bytes.empty()) return;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  Check(at >= segment.data() && at + bytes.size() <= segment.data() + segment.size());
  volatile char sum = 0;
  for (const char byte : bytes) sum = static_cast<char>(sum + byte);
}

void TouchAll(const ReplyRecord& reply, std::span<const uint8_t> segment) {
  switch (reply.type()) {
    case ReplyType::kResponse:
      Touch(reply.response().all(), segment);
      Check(reply.response().all().ends_with(reply.response().body));
      return;
    case ReplyType::kData:
    case ReplyType::kTrailers:
      return Touch(reply.bytes().bytes, segment);
    case ReplyType::kFrame:
      return Touch(reply.payload(), segment);
    case ReplyType::kWebSocket:
      return Touch(reply.websocket().head, segment);
    case ReplyType::kBroadcast:
    case ReplyType::kBroadcastBlock:
      Touch(reply.broadcast().payload, segment);
      return Touch({reinterpret_cast<const char*>(reply.broadcast().slots_at),
                    reply.broadcast().slots * sizeof(uint32_t)},
                   segment);
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint64_t> memory((size + 6) / 8);
  std::copy(data + 1, data + size, reinterpret_cast<uint8_t*>(memory.data()));
  const std::span<const uint8_t> segment(reinterpret_cast<const uint8_t*>(memory.data()),
                                         memory.size() * 8);
  std::vector<int32_t> words(httpsys::records::kControlWords);
  httpsys::ControlBlock control(words.data());
  ReplyReader reader(control);
  reader.AddSegment(segment);
  const size_t published = segment.size() * (data[0] + 1) / 256;
  control[httpsys::records::kReplyPublished].store(static_cast<uint32_t>(published));
  // A jump goes back to the beginning of this only segment.
  ReplyRecord reply;
  for (size_t read = 0; read <= published; read += 16) {
    const ReplyReader::Result result = reader.Next(&reply);
    if (result == ReplyReader::Result::kMalformed) {
      Check(reader.Next(&reply) == ReplyReader::Result::kMalformed);
      return 0;
    }
    if (result == ReplyReader::Result::kNone) return 0;
    TouchAll(reply, segment);
  }
  // No record is shorter than its header: there cannot have been more.
  Check(false);
  return 0;
}
