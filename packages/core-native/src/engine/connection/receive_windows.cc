#include "engine/connection/receive_windows.h"

#include <algorithm>

namespace httpsys::engine {

void ReceiveWindows::BeginRead(Connection* connection) {
  InputState& input = connection->input;
  if (!input.keeps_up_ || input.has_extra_ || extra_left_ == 0) return;
  --extra_left_;
  input.has_extra_ = true;
  input.window_bytes_ += limits::kReceiveExtraBytes;
}

void ReceiveWindows::EndRead(Connection* connection, uint64_t now_ms) {
  InputState& input = connection->input;
  if ((connection->watch.pauses() & kPauseWindow) != 0) {
    input.full_at_ms_ = static_cast<uint16_t>(now_ms);
  }
  TakeBack(&input);
}

bool ReceiveWindows::Give(Connection* connection, uint32_t bytes, uint64_t now_ms) {
  InputState& input = connection->input;
  const int64_t window = int64_t{input.window_bytes_} + bytes;
  input.window_bytes_ = static_cast<int32_t>(std::min<int64_t>(window, Most(input)));
  TakeBack(&input);
  const bool is_waiting = (connection->watch.pauses() & kPauseWindow) != 0;
  if (!is_waiting || input.window_bytes_ <= 0) return false;
  const auto waited_ms = static_cast<uint16_t>(now_ms - input.full_at_ms_);
  // A stream of HTTP/2 has no socket to be read.
  input.keeps_up_ = connection->stream == nullptr && waited_ms <= limits::kKeepsUpMs;
  return true;
}

void ReceiveWindows::OnDetached(Connection* connection) {
  InputState& input = connection->input;
  if (!input.has_extra_) return;
  input.has_extra_ = false;
  ++extra_left_;
}

void ReceiveWindows::TakeBack(InputState* input) {
  constexpr int32_t kEnough = limits::kReceiveExtraBytes + limits::kReceiveWindowBytes / 2;
  if (!input->has_extra_ || input->window_bytes_ < kEnough) return;
  input->has_extra_ = false;
  input->window_bytes_ -= limits::kReceiveExtraBytes;
  ++extra_left_;
}

}  // namespace httpsys::engine
