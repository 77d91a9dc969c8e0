#pragma once
// Remembers which streams a peer has used, because nghttp2 forgets closed ones and lets pass what
// comes for them later (RFC 9113, section 5.1).

#include <array>
#include <cstddef>
#include <cstdint>

namespace httpsys::http2 {

// The memory is bounded: frames for forgotten streams pass. Thread: any, one at a time.
class UsedStreams {
 public:
  enum class Verdict : uint8_t {
    kFine,
    kClosed,   // The stream had ended, or the peer had reset it.
    kSkipped,  // The stream was never opened, but a later one was.
  };

  // Judges HEADERS or DATA for a stream of the peer that nghttp2 does not know.
  Verdict OnFrame(int32_t id, bool is_headers);
  // The stream was reset by the lane: frames that are on their way are no mistake.
  void OnReset(int32_t id);

 private:
  struct Range {
    int32_t first = 0;
    int32_t last = -1;
  };

  int32_t newest_ = -1;
  int32_t forgotten_ = 0;  // The newest stream that was reset and is not remembered any more.
  std::array<int32_t, 128> resets_{};
  size_t next_reset_ = 0;
  std::array<Range, 8> skipped_{};
  size_t next_skipped_ = 0;
};

}  // namespace httpsys::http2
