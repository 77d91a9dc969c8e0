#pragma once
// Output that the kernel did not take yet.

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/send_rate.h"

namespace httpsys::engine {

// Owns copies of small pieces and names of lent blocks. Exists only while a connection is behind.
// Thread: the lane.
class OutputQueue {
 public:
  static constexpr uint32_t kNoBlock = 0xffffffffu;

  // `more` bytes of the same kind follow at once: one allocation has room for them.
  void Append(std::string_view bytes, size_t more = 0);
  // Bytes of a lent block, by reference.
  void AppendBlock(uint32_t block_id, std::string_view bytes);
  // Bytes that `owner` keeps, by reference.
  void AppendShared(std::shared_ptr<const void> owner, std::string_view bytes);

  bool empty() const { return bytes_ == 0; }
  size_t bytes() const { return bytes_; }
  // Bytes that have left since the queue was made.
  uint64_t removed() const { return removed_; }
  SendRateWatch& rate() { return rate_; }
  // Fills up to `count` vectors from the front; returns how many.
  int Peek(iovec* vectors, int count) const;
  // Removes bytes from the front; blocks that are sent whole are added to `done`.
  void Remove(size_t bytes, std::vector<uint32_t>* done);
  // Marks the end of what is queued now.
  void Mark() { marks_.push_back(removed_ + bytes_); }
  // Marks that bytes are still left before.
  size_t marks() const { return marks_.size(); }
  // Names all blocks in the queue.
  void CollectBlocks(std::vector<uint32_t>* blocks) const;

 private:
  struct Piece {
    uint32_t block_id = kNoBlock;
    std::string own;
    std::shared_ptr<const void> owner;
    std::string_view lent;
    size_t offset = 0;

    bool is_own() const { return block_id == kNoBlock && owner == nullptr; }
    std::string_view bytes() const { return is_own() ? std::string_view(own) : lent; }
  };

  size_t piece_count() const { return pieces_.size() - first_; }
  void PopFront();

  // Not a deque: one that holds a single piece takes 4 KiB with libc++.
  std::vector<Piece> pieces_;
  size_t first_ = 0;  // Those before it have left.
  size_t bytes_ = 0;
  uint64_t removed_ = 0;
  SendRateWatch rate_;
  std::vector<uint64_t> marks_;  // As counted from the first byte that was ever queued.
};

}  // namespace httpsys::engine
