#pragma once

#include <cstdint>

#include "peer/frame_reader.h"

namespace httpsys::engine {

// Gives the cache of this process to members that ask for it. Thread: the lane.
class CacheAskers {
 public:
  virtual ~CacheAskers() = default;
  // Handles a frame of a member: kCacheHits, kCacheAsk or kCacheFollow. `link` is the number of its
  // link, which is never reused. The callee owns `fd`, which may be -1.
  virtual void OnCacheFrame(uint64_t link, const peer::Frame& frame, int fd) = 0;
  // Must be called when a link from a member has ended.
  virtual void OnLinkGone(uint64_t link) = 0;
};

}  // namespace httpsys::engine
