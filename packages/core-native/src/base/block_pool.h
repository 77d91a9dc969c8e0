#pragma once
// Memory of large messages that goes round: a lane fills a block, JavaScript has it as a Buffer,
// and when V8 has let go of that the lane fills it again. Fresh memory costs the kernel a page
// fault and the zeroing of each page, which is more than all that is done with the bytes.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/block_store.h"

namespace httpsys {

// Has nothing, and takes nothing, unless blocks have been asked for lately. Outlives its lane: V8
// lets go of a Buffer when it likes. Thread: any.
class BlockPool {
 public:
  // A block that Fits() `bytes`, or an empty one when there is none. Its content is what the last
  // owner left.
  Block Take(size_t bytes);
  // What there is no room for is freed.
  void Put(Block block);
  // From time to time: frees what has not been needed since the last call, and everything when no
  // block was asked for. False then: it need not be called again before the next Take().
  bool Trim();

  // Whether memory of `capacity` bytes may hold a message of `bytes` without wasting much.
  static bool Fits(size_t bytes, size_t capacity) {
    return capacity >= bytes && capacity - bytes <= bytes / 3;
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;  // The one that came last, whose memory is most likely cached, last.
  size_t bytes_ = 0;           // Of all of them.
  size_t unused_bytes_ = 0;    // Lay here all the time since the last Trim().
  bool is_wanted_ = false;     // Since the last Trim().
  bool is_open_ = false;
};

}  // namespace httpsys
