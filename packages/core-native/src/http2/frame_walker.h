#pragma once
// Finds frames that nghttp2 does not check: DATA for streams that it has forgotten, and PRIORITY
// frames that RFC 7540 (sections 5.3.1, 6.3) forbids, but nghttp2 ignores, because the server uses
// the priorities of RFC 9218.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::http2 {

// The first bytes of a client that uses HTTP/2 without negotiation (RFC 9113, section 3.4).
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Walks from frame to frame without reading their payload. Thread: any, one at a time.
class FrameWalker {
 public:
  enum class Kind : uint8_t {
    kMore,         // All bytes were used.
    kData,         // The following bytes are a DATA frame, or the rest of its header.
    kBadPriority,  // A PRIORITY frame names no stream, or makes a stream depend on itself.
  };
  struct Step {
    Kind kind = Kind::kMore;
    size_t used = 0;
    int32_t stream = 0;  // Valid with kData.
  };

  // `skipped` is the number of bytes before the first frame.
  explicit FrameWalker(size_t skipped) : left_(skipped) {}

  // Advances to the next event in `bytes`, or to their end.
  Step Read(std::string_view bytes);

 private:
  static constexpr size_t kHeadBytes = 9;
  // Maximum number of examined bytes of a frame: its header, and a PRIORITY frame's dependency.
  static constexpr size_t kSeenBytes = kHeadBytes + 4;

  int32_t stream() const;
  size_t length() const;
  bool IsBadPriority() const;

  uint8_t seen_[kSeenBytes];
  size_t seen_bytes_ = 0;
  size_t left_;  // Bytes to skip before the next frame.
};

}  // namespace httpsys::http2
