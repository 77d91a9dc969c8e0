#pragma once

#include <cstdint>

namespace httpsys::engine {

// Under which number JavaScript knows a connection or stream. Everybody reads it, Slots alone
// writes it.
class SlotState {
 public:
  // True if JavaScript has heard of the connection, and not of its end.
  bool is_announced() const { return is_announced_; }
  // Valid if is_announced(); afterwards the last one.
  uint32_t number() const { return number_; }

 private:
  friend class Slots;

  uint32_t number_ = 0;
  bool is_announced_ = false;
};

}  // namespace httpsys::engine
