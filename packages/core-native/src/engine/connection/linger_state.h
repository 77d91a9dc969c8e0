#pragma once

#include <cstdint>

namespace httpsys::engine {

// The cost of one lingering connection. Only Lingering writes it; everybody reads it.
class LingerState {
 public:
  // The bytes that were discarded since the connection began to linger.
  uint32_t discarded_bytes() const { return discarded_bytes_; }

 private:
  friend class Lingering;

  uint32_t discarded_bytes_ = 0;
};

}  // namespace httpsys::engine
