#pragma once
// Limits how many bytes of a body a client may send on a stream ahead of JavaScript.

#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "engine/connection/protocol_states.h"

namespace httpsys::engine {

// The receive windows of the streams of a lane. A stream begins with the window of the settings. If
// JavaScript consumes the body at once, the stream gets limits::kReceiveExtraBytes more, so that
// the client need not wait for JavaScript; at most limits::kReceiveExtraMax streams have the larger
// window. A window cannot be taken back from a client, so it stays until the body has ended.
// Thread: the lane.
class StreamWindows {
 public:
  StreamWindows& operator=(StreamWindows&&) = delete;

  // `now_ms` is uv_now() of the loop.

  // Must be called when JavaScript gets a request whose body has not ended.
  static void Begin(Http2Stream* stream, uint64_t now_ms);
  // Must be called when JavaScript has consumed `bytes` of the body, after unread_bytes was
  // reduced. Returns true if the caller must now enlarge the stream's window.
  bool OnConsumed(Http2Stream* stream, uint32_t bytes, uint64_t now_ms);
  // Must be called when the client has ended the body.
  void OnEnded(Http2Stream* stream);
  void OnDetached(Http2Stream* stream);

 private:
  static bool MayGrow(const Http2Stream& stream);
  void Return(Http2Stream* stream);

  size_t left_ = limits::kReceiveExtraMax;
};

}  // namespace httpsys::engine
