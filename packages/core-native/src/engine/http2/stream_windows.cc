#include "engine/http2/stream_windows.h"

#include <algorithm>

namespace httpsys::engine {

using Size = StreamWindow::Size;

void StreamWindows::Begin(Http2Stream* stream, uint64_t now_ms) {
  stream->window.since_ms = static_cast<uint16_t>(now_ms);
}

// A stream is judged each time that a usual window of it has been consumed. It may never be full,
// since its client is given back what it has sent while it sends.
StreamWindows::Change StreamWindows::OnConsumed(Http2Stream* stream, uint32_t bytes,
                                                uint64_t now_ms) {
  StreamWindow& window = stream->window;
  if (stream->has_ended) {
    OnEnded(stream);
    return Change::kNone;
  }
  window.bytes_left -= static_cast<int32_t>(std::min<uint32_t>(bytes, INT32_MAX / 2));
  if (window.bytes_left > 0) return Change::kNone;
  const auto took_ms = static_cast<uint16_t>(static_cast<uint16_t>(now_ms) - window.since_ms);
  window.since_ms = static_cast<uint16_t>(now_ms);
  window.bytes_left = limits::kReceiveWindowBytes;
  switch (window.size) {
    case Size::kUsual:
      if (took_ms > limits::kKeepsUpMs || left_ == 0 || !MayGrow(*stream)) return Change::kNone;
      --left_;
      window.size = Size::kLarge;
      return Change::kLarger;
    case Size::kLarge:
      if (took_ms <= limits::kSlowMs) return Change::kNone;
      window.size = Size::kShrinking;
      window.bytes_left = limits::kReceiveExtraBytes;
      return Change::kUsual;
    case Size::kShrinking:
      // The client has sent as much as the window was larger.
      Return(stream);
      return Change::kNone;
  }
  return Change::kNone;
}

void StreamWindows::OnEnded(Http2Stream* stream) {
  if (stream->unread_bytes == 0) Return(stream);
}

void StreamWindows::OnDetached(Http2Stream* stream) { Return(stream); }

// The application may have asked for a smaller window than usual. Before the client has
// acknowledged the settings nghttp2 would add them to a window that has been changed.
bool StreamWindows::MayGrow(const Http2Stream& stream) {
  const Http2State* const state = stream.state;
  return state != nullptr && !stream.is_gone && state->is_settled &&
         state->window_bytes >= limits::kReceiveWindowBytes &&
         state->window_bytes <= INT32_MAX - limits::kReceiveExtraBytes;
}

void StreamWindows::Return(Http2Stream* stream) {
  if (stream->window.size == Size::kUsual) return;
  stream->window.size = Size::kUsual;
  ++left_;
}

}  // namespace httpsys::engine
