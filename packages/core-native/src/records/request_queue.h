#pragma once
// The request records of one lane on their way to JavaScript.
//
// Equal segments. The lane fills one after the other and *seals* one when it moves on, to the one
// that became free last: the caches know it, and what a burst does not need is no resident memory.
// JavaScript reads regions in the same order, and a sealed segment that it has read to its end is
// free again. When none is free the lane keeps records in a backlog of its own, so that appending
// never fails; it then stops reading from its connections (stalled()), which bounds the backlog.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/block_pool.h"
#include "base/block_store.h"
#include "records/records.h"

namespace httpsys {

class RequestQueue {
 public:
  struct Region {
    uint32_t segment = 0;
    uint32_t start = 0;
    uint32_t end = 0;
  };

  // At least two segments of equal size, a multiple of 8 bytes, which must outlive the queue.
  explicit RequestQueue(std::vector<std::span<uint8_t>> segments);
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // -- Thread: the lane.

  // Room for a record of `bytes` (rounded up to a multiple of 8 by the caller), to be filled before
  // the next Append() or Publish(). A record that no segment can hold goes into a block of its own,
  // announced by kOversize.
  uint8_t* Append(size_t bytes);
  // Makes all appended records visible. True when the reader should be told.
  bool Publish();
  // Something was appended that Publish() has not made visible.
  bool HasUnpublished() const {
    return sealed_since_publish_ || write_offset_ != published_offset_ || backlog_bytes_ != 0;
  }
  // No segment is free: do not read from connections.
  bool stalled() const { return backlog_bytes_ != 0; }
  // Bytes of all records so far, published or not.
  uint64_t appended() const {
    return published_total_ + (write_offset_ - published_offset_) + backlog_bytes_;
  }
  // Those that JavaScript has read.
  uint64_t consumed() const { return consumed_total_.load(std::memory_order_relaxed); }
  // The same and those that it has come to since, up to the one that it is working on.
  uint64_t begun() const;
  // Where the reader leaves how far it is in its segment, before each record (kDispatchResume).
  void set_reading(const std::atomic<uint32_t>* reading) { reading_ = reading; }
  // JavaScript has not read everything that was published.
  bool HasUnread() const {
    return consumed_total_.load(std::memory_order_relaxed) != published_total_;
  }

  // -- Thread: JavaScript.

  // The next published bytes; false when there are none. They are the caller's until Consume().
  bool Next(Region* region);
  // What Next() gave is read from here on, and what set_reading() named says how far.
  void BeginReading();
  // Everything in the current segment before `offset` has been read. True when the lane waits for
  // memory and must be woken.
  bool Consume(uint32_t offset);
  BlockStore& blocks() { return blocks_; }
  ReceiveBlocks& receive_blocks() { return receive_blocks_; }
  const std::shared_ptr<BlockPool>& block_pool() const { return block_pool_; }

 private:
  // What a segment's `published` says beside its offset, when the lane has left it: that, and for
  // which segment.
  static constexpr uint32_t kSealed = 0x80000000u;
  static constexpr int kNextShift = 24;
  static constexpr uint32_t kSegmentsMax = 128;
  static constexpr uint32_t kOffsetMask = (1u << kNextShift) - 1;

  struct Segment {
    std::span<uint8_t> memory;
    std::atomic<uint32_t> published{0};
  };

  bool MoveToNextSegment();
  uint8_t* AppendOversize(size_t bytes);
  void FlushBacklog();
  void ReleaseSegment(uint32_t published);

  const size_t segment_count_;
  const size_t segment_bytes_;
  std::unique_ptr<Segment[]> segments_;
  BlockStore blocks_;
  ReceiveBlocks receive_blocks_;
  const std::shared_ptr<BlockPool> block_pool_ = std::make_shared<BlockPool>();

  // The lane's.
  size_t write_segment_ = 0;
  size_t write_offset_ = 0;
  size_t published_offset_ = 0;
  std::vector<size_t> free_;    // The last one is filled next.
  std::vector<size_t> sealed_;  // Not known to be free, in order.
  uint64_t known_released_ = 0;
  uint64_t published_total_ = 0;
  bool sealed_since_publish_ = false;
  std::vector<uint64_t> backlog_;  // Words, for alignment.
  size_t backlog_bytes_ = 0;

  const std::atomic<uint32_t>* reading_ = nullptr;

  // JavaScript's.
  size_t read_segment_ = 0;
  uint32_t read_offset_ = 0;

  std::atomic<uint64_t> released_{0};  // Segments given back so far.
  std::atomic<uint64_t> consumed_total_{0};
  std::atomic<uint64_t> segment_total_{0};  // Bytes before the segment that is being read.
  std::atomic<bool> is_waiting_{false};
};

}  // namespace httpsys
