#include "win/response_trailers.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ascii.h"
#include "http1/char_class.h"
#include "http2/response_text.h"

namespace httpsys::win {
namespace {

constexpr std::array<std::string_view, 6> kOfConnection = {
    "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"};
// Lengths, and the number of lines, must fit a USHORT.
constexpr size_t kUshortMax = 0xffff;

bool IsSent(const http1::HeaderLine& line) {
  return line.name.size() <= kUshortMax && line.value.size() <= kUshortMax &&
         std::all_of(line.name.begin(), line.name.end(),
                     [](char c) { return http1::HasClass(c, http1::kTokenChar); }) &&
         std::none_of(kOfConnection.begin(), kOfConnection.end(), [&line](std::string_view name) {
           return EqualsIgnoringCase(line.name, name);
         });
}

}  // namespace

bool ResponseTrailers::Read(std::string_view text) {
  text_ = text;
  fields_.clear();
  if (!http2::ParseTrailers(text_, &lines_)) return false;
  for (const http1::HeaderLine& line : lines_) {
    if (!IsSent(line) || fields_.size() == kUshortMax) continue;
    fields_.push_back({static_cast<USHORT>(line.name.size()),
                       static_cast<USHORT>(line.value.size()), line.name.data(),
                       line.value.data()});
  }
  return !fields_.empty();
}

HTTP_DATA_CHUNK ResponseTrailers::chunk() {
  HTTP_DATA_CHUNK chunk{};
  chunk.DataChunkType = static_cast<HTTP_DATA_CHUNK_TYPE>(kDataChunkTrailers);
  const ChunkTrailers trailers = {static_cast<USHORT>(fields_.size()), fields_.data()};
  std::memcpy(&chunk.FromMemory, &trailers, sizeof trailers);
  return chunk;
}

}  // namespace httpsys::win
