#include "base/block_pool.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace httpsys {

Block BlockPool::Take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  is_wanted_ = is_open_ = true;
  const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(), [bytes](const Block& block) {
    return Fits(bytes, block.capacity);
  });
  if (found == blocks_.rend()) return {};
  Block block = std::move(*found);
  blocks_.erase(std::next(found).base());
  bytes_ -= block.capacity;
  unused_bytes_ = std::min(unused_bytes_, bytes_);
  return block;
}

void BlockPool::Put(Block block) {
  if (block.capacity < limits::kPooledBlockBytesMin) return;
  // Blocks without room in the pool; freed after the lock is released.
  std::vector<Block> freed;
  const std::lock_guard lock(mutex_);
  if (!is_open_ || block.capacity > limits::kPoolBytesMax) return;
  while (bytes_ > limits::kPoolBytesMax - block.capacity) {
    // Free the oldest block first: its size was not needed for the longest time.
    bytes_ -= blocks_.front().capacity;
    freed.push_back(std::move(blocks_.front()));
    blocks_.erase(blocks_.begin());
  }
  unused_bytes_ = std::min(unused_bytes_, bytes_);
  bytes_ += block.capacity;
  blocks_.push_back(std::move(block));
}

bool BlockPool::Trim() {
  std::vector<Block> freed;
  const std::lock_guard lock(mutex_);
  is_open_ = std::exchange(is_wanted_, false);
  size_t surplus = is_open_ ? unused_bytes_ : bytes_;
  size_t count = 0;
  for (; count < blocks_.size() && blocks_[count].capacity <= surplus; ++count) {
    surplus -= blocks_[count].capacity;
    bytes_ -= blocks_[count].capacity;
    freed.push_back(std::move(blocks_[count]));
  }
  blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(count));
  unused_bytes_ = bytes_;
  return is_open_;
}

}  // namespace httpsys
