#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"

namespace httpsys::engine {

// The bytes of one connection or stream that were read but not handled, and the number of bytes
// that may still be read. Only Input and ReceiveWindows write it; everybody reads it.
class InputState {
 public:
  // The bytes that were received and not handled yet; nullptr = none.
  const std::string* partial() const { return partial_.get(); }
  size_t partial_bytes() const { return partial_ == nullptr ? 0 : partial_->size(); }
  // How many bytes of partial() JavaScript has already received or the lane has peeked at.
  uint32_t given_bytes() const { return given_bytes_; }
  // The bytes of body or tunnel that JavaScript may still get before it consumes some. May become
  // negative.
  int32_t window_bytes() const { return window_bytes_; }
  // True if the connection waits in a ReceiveQueue.
  bool waits_for_blocks() const { return waits_for_blocks_; }
  // True if the connection or stream waits in a MemoryQueue.
  bool waits_for_segment() const { return waits_for_segment_; }
  // True if the input is to be resumed after this pass.
  bool is_resume_due() const { return is_resume_due_; }

 private:
  friend class Input;
  friend class ReceiveWindows;

  std::unique_ptr<std::string> partial_;
  int32_t window_bytes_ = limits::kReceiveWindowBytes;
  uint32_t given_bytes_ = 0;
  // When was_full_ became true: the lowest bits of the loop's clock in ms.
  uint16_t full_at_ms_ = 0;
  bool is_resume_due_ = false;
  bool was_full_ : 1 = false;  // The window was used up, and JavaScript has not consumed it since.
  // JavaScript consumes full windows fast enough for the extra window.
  bool keeps_up_ : 1 = false;
  bool has_extra_ : 1 = false;         // The window has limits::kReceiveExtraBytes more.
  bool waits_for_blocks_ : 1 = false;  // The connection is in the list of a ReceiveQueue.
  // The connection got its turn in the ReceiveQueue and has not been read since.
  bool has_receive_turn_ : 1 = false;
  bool waits_for_segment_ : 1 = false;  // The connection is in the list of a MemoryQueue.
};

}  // namespace httpsys::engine
