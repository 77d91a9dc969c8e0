#pragma once
// What nghttp2 does not look at: DATA for streams that it has forgotten, and, since priorities are
// those of RFC 9218 here, PRIORITY frames that RFC 7540 (sections 5.3.1, 6.3) refuses.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::http2 {

// What a client begins with that knows that it wants HTTP/2 (RFC 9113, section 3.4).
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Goes from frame to frame without reading them. Thread: any, one at a time.
class FrameWalker {
 public:
  enum class Kind : uint8_t {
    kMore,         // Everything was used.
    kData,         // What follows is DATA, or the rest of its head.
    kBadPriority,  // A PRIORITY frame for no stream, or for one that is to depend on itself.
  };
  struct Step {
    Kind kind = Kind::kMore;
    size_t used = 0;
    int32_t stream = 0;  // Of kData.
  };

  // `skipped` bytes come before the first frame.
  explicit FrameWalker(size_t skipped) : left_(skipped) {}

  // The bytes that follow those that were used.
  Step Read(std::string_view bytes);

 private:
  static constexpr size_t kHeadBytes = 9;
  static constexpr size_t kSeenBytes = kHeadBytes + 4;  // With the stream it depends on.

  int32_t stream() const;
  size_t length() const;
  bool IsBadPriority() const;

  uint8_t seen_[kSeenBytes];
  size_t seen_bytes_ = 0;
  size_t left_;  // To be skipped.
};

}  // namespace httpsys::http2
