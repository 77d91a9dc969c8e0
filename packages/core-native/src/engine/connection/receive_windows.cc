#include "engine/connection/receive_windows.h"

#include <algorithm>

namespace httpsys::engine {

void ReceiveWindows::Lend(Connection* connection) {
  InputState& input = connection->input;
  if (input.has_extra_ || extra_left_ == 0) return;
  --extra_left_;
  input.has_extra_ = true;
  input.window_bytes_ += limits::kReceiveExtraBytes;
}

void ReceiveWindows::EndRead(Connection* connection, uint64_t now_ms) {
  InputState& input = connection->input;
  if ((connection->watch.pauses() & kPauseWindow) != 0 && !input.was_full_) {
    input.was_full_ = true;
    input.full_at_ms_ = static_cast<uint16_t>(now_ms);
  }
  TakeBackUnused(&input);
}

bool ReceiveWindows::Give(Connection* connection, uint32_t bytes, uint64_t now_ms) {
  InputState& input = connection->input;
  const int64_t window = int64_t{input.window_bytes_} + bytes;
  input.window_bytes_ = static_cast<int32_t>(std::min<int64_t>(window, Most(input)));
  TakeBackUnused(&input);
  if (input.was_full_) {
    const uint32_t most_ms = input.keeps_up_ ? limits::kSlowMs : limits::kKeepsUpMs;
    const bool is_slow = static_cast<uint16_t>(now_ms - input.full_at_ms_) > most_ms;
    // JavaScript may have consumed bytes that it has not acknowledged yet.
    const bool is_consumed = input.window_bytes_ >= Most(input) - limits::kReceiveWindowBytes / 4;
    if (is_slow) {
      input.keeps_up_ = false;
      if (input.has_extra_) TakeBack(&input);
    } else if (is_consumed) {
      input.keeps_up_ = true;
    }
    if (is_slow || is_consumed) input.was_full_ = false;
  }
  return (connection->watch.pauses() & kPauseWindow) != 0 && input.window_bytes_ > 0;
}

void ReceiveWindows::OnDetached(Connection* connection) {
  if (connection->input.has_extra_) TakeBack(&connection->input);
}

// Takes the extra window back. JavaScript may have used a part of it, so the window may become
// negative.
void ReceiveWindows::TakeBack(InputState* input) {
  input->has_extra_ = false;
  const int64_t left = int64_t{input->window_bytes_} - limits::kReceiveExtraBytes;
  input->window_bytes_ = static_cast<int32_t>(std::max<int64_t>(left, INT32_MIN));
  ++extra_left_;
}

// Takes the extra window back if JavaScript has consumed most of it.
void ReceiveWindows::TakeBackUnused(InputState* input) {
  constexpr int32_t kEnough = limits::kReceiveExtraBytes + limits::kReceiveWindowBytes / 2;
  if (input->has_extra_ && input->window_bytes_ >= kEnough) TakeBack(input);
}

}  // namespace httpsys::engine
