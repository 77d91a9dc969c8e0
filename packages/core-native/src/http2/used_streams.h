#pragma once
// Which streams a peer has used: nghttp2 forgets those that are closed, and lets pass what comes
// for them later (RFC 9113, section 5.1).

#include <array>
#include <cstddef>
#include <cstdint>

namespace httpsys::http2 {

// Bounded: what it has forgotten is fine. Thread: any, one at a time.
class UsedStreams {
 public:
  enum class Verdict : uint8_t {
    kFine,
    kClosed,   // The stream had ended, or the peer had reset it.
    kSkipped,  // It was never opened, and a later one was.
  };

  // A stream of the peer that nghttp2 does not know gets HEADERS or DATA.
  Verdict OnFrame(int32_t id, bool is_headers);
  // Reset from here: what is on its way for it is no mistake.
  void OnReset(int32_t id);

 private:
  struct Range {
    int32_t first = 0;
    int32_t last = -1;
  };

  int32_t newest_ = -1;
  int32_t forgotten_ = 0;  // The newest that was reset and is not remembered.
  std::array<int32_t, 128> resets_{};
  size_t next_reset_ = 0;
  std::array<Range, 8> skipped_{};
  size_t next_skipped_ = 0;
};

}  // namespace httpsys::http2
