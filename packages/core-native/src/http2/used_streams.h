#pragma once
// Remembers which streams a client has used. nghttp2 forgets closed streams, and accepts later
// frames for them (RFC 9113, section 5.1).

#include <array>
#include <cstddef>
#include <cstdint>

namespace httpsys::http2 {

// Bounded memory: frames for forgotten streams count as correct. Thread: any, one at a time.
class UsedStreams {
 public:
  enum class Verdict : uint8_t {
    kFine,
    kClosed,   // The stream had ended, or the client had reset it.
    kSkipped,  // The stream was never opened, but a later one was.
  };

  // Judges a HEADERS or DATA frame for a stream of the client that nghttp2 does not know.
  Verdict OnFrame(int32_t id, bool is_headers);
  // Must be called when the lane resets a stream: frames that are on their way are no error then.
  void OnReset(int32_t id);

 private:
  struct Range {
    int32_t first = 0;
    int32_t last = -1;
  };

  int32_t newest_ = -1;
  // The newest stream that the lane has reset and that is no longer in resets_.
  int32_t forgotten_ = 0;
  std::array<int32_t, 128> resets_{};
  size_t next_reset_ = 0;
  std::array<Range, 8> skipped_{};
  size_t next_skipped_ = 0;
};

}  // namespace httpsys::http2
