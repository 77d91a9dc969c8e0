#pragma once
// A request queue that owns its segments.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records/request_queue.h"

namespace httpsys::test {

class OwnQueue {
 public:
  RequestQueue* get() { return &queue_; }
  // The first byte of a segment.
  const uint8_t* At(uint32_t segment) const {
    return reinterpret_cast<const uint8_t*>(memory_.data()) + size_t{segment} * kSegmentBytes;
  }

 private:
  static constexpr size_t kSegments = 4;
  static constexpr size_t kSegmentBytes = 64 * 1024;

  std::vector<std::span<uint8_t>> Segments() {
    std::vector<std::span<uint8_t>> segments;
    for (size_t i = 0; i < kSegments; ++i) {
      segments.emplace_back(reinterpret_cast<uint8_t*>(memory_.data()) + i * kSegmentBytes,
                            kSegmentBytes);
    }
    return segments;
  }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(kSegments * kSegmentBytes / 8);
  RequestQueue queue_{Segments()};
};

}  // namespace httpsys::test
