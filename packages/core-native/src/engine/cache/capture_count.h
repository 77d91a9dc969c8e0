#pragma once

#include <atomic>
#include <cstdint>

namespace httpsys::engine {

// Counts one response while it is being captured (ProcessCache::must_invalidate()): from its
// construction until the response is stored or can no longer be. Thread: any.
class CaptureCount {
 public:
  explicit CaptureCount(std::atomic<uint64_t>* captures) : captures_(captures) {
    captures_->fetch_add(1, std::memory_order_relaxed);
  }
  ~CaptureCount() { captures_->fetch_sub(1, std::memory_order_release); }
  CaptureCount(const CaptureCount&) = delete;
  CaptureCount& operator=(const CaptureCount&) = delete;

 private:
  std::atomic<uint64_t>* const captures_;
};

}  // namespace httpsys::engine
