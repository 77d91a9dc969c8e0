#include "base/block_store.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/process_memory.h"

namespace httpsys {

uint32_t BlockStore::Put(Block block) {
  const std::lock_guard lock(mutex_);
  const uint32_t id = next_id_++;
  blocks_.insert_or_assign(id, std::move(block));
  return id;
}

Block BlockStore::Take(uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(id);
  if (found == blocks_.end()) return {};
  Block block = std::move(found->second);
  blocks_.erase(found);
  return block;
}

void ReceiveBlocks::Lend(uint32_t id, uint8_t* memory) {
  bool fills_read = false;
  {
    const std::lock_guard lock(mutex_);
    loans_.push_back({memory, id});
    fills_read = known_ < limits::kBlocksPerRead && id + 1 >= limits::kBlocksPerRead;
    known_ = std::max(known_, size_t{id} + 1);
  }
  // From now on, JavaScript frees and lends such blocks by megabytes. KeepFreed() must run now,
  // while malloc() has no free piece of that size.
  if (fills_read) KeepFreed(limits::kReceiveBlocksMax * limits::kBlockBytes);
}

ReceiveBlocks::Loan ReceiveBlocks::Take() {
  const std::lock_guard lock(mutex_);
  if (loans_.empty()) return {};
  const Loan loan = loans_.back();
  loans_.pop_back();
  return loan;
}

bool ReceiveBlocks::TakeUpTo(size_t count, std::vector<Loan>* loans) {
  if (loans->size() >= count) return true;
  const std::lock_guard lock(mutex_);
  while (loans->size() < count && !loans_.empty()) {
    loans->push_back(loans_.back());
    loans_.pop_back();
  }
  return loans->size() >= count || known_ < limits::kReceiveBlocksMax;
}

size_t ReceiveBlocks::available() const {
  const std::lock_guard lock(mutex_);
  return loans_.size();
}

uint32_t LentMemory::Lend(const uint8_t* data, size_t bytes) {
  const std::lock_guard lock(mutex_);
  // Skip ids in use: ids wrap around, and one of the first blocks may still be lent.
  while (next_id_ == kNoBlock || views_.contains(next_id_)) ++next_id_;
  const uint32_t id = next_id_++;
  views_.emplace(id, View{data, bytes});
  return id;
}

bool LentMemory::Find(uint32_t id, View* view) {
  const std::lock_guard lock(mutex_);
  const auto found = views_.find(id);
  if (found == views_.end()) return false;
  *view = found->second;
  return true;
}

void LentMemory::Skip(uint32_t id, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = views_.find(id);
  if (found == views_.end()) return;
  found->second.data += bytes;
  found->second.bytes -= bytes;
}

void LentMemory::Return(uint32_t id) {
  const std::lock_guard lock(mutex_);
  views_.erase(id);
}

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
