#include "peer/frame_reader.h"

namespace httpsys::peer {

std::string FrameHeader(FrameType type, size_t payload_bytes, uint8_t fds) {
  return Encode(Sync{static_cast<uint32_t>(payload_bytes)}) + static_cast<char>(type) +
         static_cast<char>(fds) + std::string(2, '\0');
}

void FrameReader::Append(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(bytes);
}

FrameReader::Result FrameReader::Next(Frame* frame) {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < kFrameHeaderBytes) return Result::kNeedMore;
  uint32_t bytes = 0;
  uint8_t type = 0;
  uint8_t fds = 0;
  uint16_t zero = 0;
  Reader reader(rest.substr(0, kFrameHeaderBytes));
  reader(bytes, type, fds, zero);
  if (bytes > kFrameBytesMax || fds > kFrameFdsMax || zero != 0) return Result::kBad;
  if (rest.size() - kFrameHeaderBytes < bytes) return Result::kNeedMore;
  frame->type = static_cast<FrameType>(type);
  frame->fds = fds;
  frame->payload = rest.substr(kFrameHeaderBytes, bytes);
  at_ += kFrameHeaderBytes + bytes;
  return Result::kFrame;
}

}  // namespace httpsys::peer
