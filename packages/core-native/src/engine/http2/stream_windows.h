#pragma once
// How many bytes of a body the client of a stream may send ahead of JavaScript.

#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "engine/connection/http2_state.h"

namespace httpsys::engine {

// The receive windows of the streams of a lane. A stream has the window of the settings. One whose
// body JavaScript consumes at once has limits::kReceiveExtraBytes more, as one of
// limits::kReceiveExtraMax: its client does not wait for JavaScript. What a client was given it
// keeps, so that the window stays as it is until the body has ended. Thread: the lane.
class StreamWindows {
 public:
  StreamWindows() = default;
  StreamWindows(const StreamWindows&) = delete;
  StreamWindows& operator=(const StreamWindows&) = delete;

  // `now_ms` is uv_now() of the loop.

  // JavaScript is told of a request whose body has not ended.
  static void Begin(Http2Stream* stream, uint64_t now_ms);
  // JavaScript has consumed `bytes` of the body, which unread_bytes does not count any more.
  // Returns true if the stream's window is larger from now on.
  bool OnConsumed(Http2Stream* stream, uint32_t bytes, uint64_t now_ms);
  // The client has ended the body.
  void OnEnded(Http2Stream* stream);
  void OnDetached(Http2Stream* stream);

 private:
  static bool MayGrow(const Http2Stream& stream);
  void Return(Http2Stream* stream);

  size_t left_ = limits::kReceiveExtraMax;
};

}  // namespace httpsys::engine
