#include "engine/http2/stream_windows.h"

#include <algorithm>

namespace httpsys::engine {

void StreamWindows::Begin(Http2Stream* stream, uint64_t now_ms) {
  stream->window.since_ms = static_cast<uint16_t>(now_ms);
  stream->window.bytes_left = limits::kReceiveWindowBytes;
}

// Judges the stream each time that JavaScript has consumed kReceiveWindowBytes. A full window is no
// criterion: the client gets window back while it sends.
bool StreamWindows::OnConsumed(Http2Stream* stream, uint32_t bytes, uint64_t now_ms) {
  StreamWindow& window = stream->window;
  if (stream->has_ended) {
    OnEnded(stream);
    return false;
  }
  if (window.is_large) return false;
  window.bytes_left -= static_cast<int32_t>(std::min<uint32_t>(bytes, INT32_MAX / 2));
  if (window.bytes_left > 0) return false;
  const auto took_ms = static_cast<uint16_t>(static_cast<uint16_t>(now_ms) - window.since_ms);
  Begin(stream, now_ms);
  if (took_ms > limits::kKeepsUpMs || left_ == 0 || !MayGrow(*stream)) return false;
  --left_;
  window.is_large = true;
  return true;
}

// Gives the extra window of an ended body back to the lane once its unread rest fits into a usual
// window.
void StreamWindows::OnEnded(Http2Stream* stream) {
  if (stream->unread_bytes <= limits::kReceiveWindowBytes) Return(stream);
}

void StreamWindows::OnDetached(Http2Stream* stream) { Return(stream); }

// Returns true if the window may grow: the application has not set a smaller one than usual, and
// the client has acknowledged the settings. Before that, nghttp2 would add the settings to a
// changed window.
bool StreamWindows::MayGrow(const Http2Stream& stream) {
  const Http2State* const state = stream.state;
  return state != nullptr && !stream.is_gone && state->is_settled &&
         state->window_bytes >= limits::kReceiveWindowBytes &&
         state->window_bytes <= INT32_MAX - limits::kReceiveExtraBytes;
}

void StreamWindows::Return(Http2Stream* stream) {
  if (!stream->window.is_large) return;
  stream->window.is_large = false;
  ++left_;
}

}  // namespace httpsys::engine
