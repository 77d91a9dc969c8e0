#pragma once

#include <atomic>
#include <cstdint>

namespace httpsys::engine {

// Counts one response while it is being captured. When this object is destroyed, the response was
// stored or never will be (ProcessCache::must_invalidate()). Thread: any.
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
