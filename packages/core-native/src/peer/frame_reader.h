#pragma once
// Cuts a stream of bytes into frames: 4 bytes length of the payload, 1 byte type, 1 byte number of
// descriptors, 2 bytes zero; then the payload.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "peer/messages.h"

namespace httpsys::peer {

inline constexpr size_t kFrameHeaderBytes = 8;
// Longest payload in bytes. A hand-over must fit: it includes the unhandled bytes of a lane's read.
inline constexpr size_t kFrameBytesMax = 1024 * 1024;
// Most descriptors of one frame, and connections per hand-over. Systems allow some hundred.
inline constexpr uint8_t kFrameFdsMax = 64;

struct Frame {
  FrameType type{};
  uint8_t fds = 0;
  std::string_view payload;  // Valid until the next call of FrameReader.
};

std::string FrameHeader(FrameType type, size_t payload_bytes, uint8_t fds);

class FrameReader {
 public:
  enum class Result : uint8_t { kFrame, kNeedMore, kBad };

  // Adds received bytes.
  void Append(std::string_view bytes);
  // Takes the next frame. kBad: the bytes are not frames of this protocol.
  Result Next(Frame* frame);
  size_t buffered_bytes() const { return buffer_.size() - at_; }

 private:
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace httpsys::peer
