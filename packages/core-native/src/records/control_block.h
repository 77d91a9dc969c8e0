#pragma once
// The 32-bit words that a lane and JavaScript share in addition to the segments (records.h,
// ControlWord).

#include <atomic>
#include <cstdint>

#include "records/records.h"

namespace httpsys {

// A view of an Int32Array over a SharedArrayBuffer, which must outlive the view. JavaScript
// accesses the same words by Atomics, which V8 compiles to plain lock-free instructions, as a C++
// compiler does for std::atomic. Every access is atomic. Thread: any.
class ControlBlock {
 public:
  explicit ControlBlock(int32_t* words) : words_(words) {}

  std::atomic<uint32_t>& operator[](records::ControlWord word) const {
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(int32_t));
    static_assert(std::atomic<uint32_t>::is_always_lock_free);
    return *reinterpret_cast<std::atomic<uint32_t>*>(words_ + word);
  }

 private:
  int32_t* words_;
};

}  // namespace httpsys
