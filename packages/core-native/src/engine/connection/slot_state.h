#pragma once

#include <cstdint>

namespace httpsys::engine {

// The number by which JavaScript knows a connection or stream. Only Slots writes it; everybody
// reads it.
class SlotState {
 public:
  // True from kOpen, or the first request of a stream, until kClosed.
  bool is_announced() const { return is_announced_; }
  // The slot's number. Valid if is_announced(); afterwards the last number of the connection.
  uint32_t number() const { return number_; }

 private:
  friend class Slots;

  uint32_t number_ = 0;
  bool is_announced_ = false;
};

}  // namespace httpsys::engine
