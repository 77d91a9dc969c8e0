#pragma once
// The queue of request records from one lane to JavaScript.
//
// The queue has segments of equal size. The lane fills one segment and *seals* it when it moves on
// to another one. It chooses the one that became free last: that is most likely in a CPU cache, and
// segments that only a burst needs stay out of resident memory. JavaScript reads regions in the
// same order; a sealed segment is free again once it was read to its end. If no segment is free,
// the lane keeps records in a backlog of its own: appending never fails. While there is a backlog
// (stalled()) the lane reads no bodies, and it parks requests once the backlog is too large
// (Attachment::IsFull()), which bounds it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

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

  // `segments` must be at least two of equal size, a multiple of 8 bytes, and must outlive the
  // queue. `pool` receives the memory of blocks that JavaScript does not need any more.
  explicit RequestQueue(std::vector<std::span<uint8_t>> segments,
                        std::shared_ptr<BlockPool> pool = std::make_shared<BlockPool>());
  RequestQueue& operator=(RequestQueue&&) = delete;

  // -- Thread: the lane.

  // Returns room for a record of `bytes`, a multiple of 8. The caller must fill it before the next
  // Append() or Publish(). A record that is larger than a segment goes into a block of its own,
  // announced by kOversize.
  uint8_t* Append(size_t bytes);
  // Makes all appended records visible to JavaScript. Returns true if JavaScript must be notified.
  bool Publish();
  // True if Publish() has not made all appended records visible.
  bool HasUnpublished() const {
    return sealed_since_publish_ || write_offset_ != published_offset_ || backlog_bytes_ != 0;
  }
  // True if no segment is free: the lane must not read input that only JavaScript can process.
  bool stalled() const { return backlog_bytes_ != 0; }
  // Makes the next Consume() return true.
  void AskForWake() { is_waiting_.store(true, std::memory_order_seq_cst); }
  // The total bytes of all appended records, published or not.
  uint64_t appended() const {
    return published_total_ + sealed_unpublished_ + (write_offset_ - published_offset_) +
           backlog_bytes_;
  }
  // The total bytes of records that JavaScript has read.
  uint64_t consumed() const { return consumed_total_.load(std::memory_order_seq_cst); }
  // The total bytes of records that JavaScript has begun, including the one that it is working on.
  uint64_t begun() const;
  // Sets the word (kDispatchResume) in which JavaScript stores its offset in the segment before
  // each record.
  void set_reading(const std::atomic<uint32_t>* reading) { reading_ = reading; }
  // True if JavaScript has not read everything that was published. It may even have read more: the
  // records of a sealed segment are visible before Publish(), without a notification.
  bool HasUnread() const {
    return consumed_total_.load(std::memory_order_relaxed) < published_total_;
  }

  // -- Thread: JavaScript.

  // Returns the next published bytes; the caller may use them until Consume(). Returns false if
  // there are none.
  bool Next(Region* region);
  // Must be called before JavaScript reads the region of Next(). Afterwards begun() counts the
  // progress in this region, by the offset that JavaScript stores in the word of set_reading().
  void BeginReading();
  // Must be called when everything before `offset` in the current segment was read. Returns true if
  // the lane waits for memory: the caller must wake it.
  bool Consume(uint32_t offset);
  BlockStore& blocks() { return blocks_; }
  ReceiveBlocks& receive_blocks() { return receive_blocks_; }
  const std::shared_ptr<BlockPool>& block_pool() const { return block_pool_; }

 private:
  // Bits of Segment::published in addition to its offset: the segment is sealed, and the number of
  // the next segment.
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
  const std::shared_ptr<BlockPool> block_pool_;

  // Only the lane uses these members.
  size_t write_segment_ = 0;
  size_t write_offset_ = 0;
  size_t published_offset_ = 0;
  std::vector<size_t> free_;    // Free segments. The last one is filled next.
  std::vector<size_t> sealed_;  // Segments that were sealed and may still be in use, oldest first.
  uint64_t known_released_ = 0;
  uint64_t published_total_ = 0;
  uint64_t sealed_unpublished_ = 0;  // The bytes of sealed segments since Publish().
  bool sealed_since_publish_ = false;
  // Whole records in pieces no longer than a segment; words, for alignment.
  std::deque<std::vector<uint64_t>> backlog_;
  size_t backlog_at_ = 0;     // Bytes of the first piece that were already moved to a segment.
  size_t backlog_bytes_ = 0;  // Bytes of all pieces that were not moved yet.

  const std::atomic<uint32_t>* reading_ = nullptr;

  // Only JavaScript writes these members; the lane reads the atomics.
  size_t read_segment_ = 0;
  uint32_t read_offset_ = 0;

  std::atomic<uint64_t> released_{0};  // The number of segments given back so far.
  std::atomic<uint64_t> consumed_total_{0};
  std::atomic<uint64_t> segment_total_{0};  // The bytes before the segment that is being read.
  std::atomic<bool> is_waiting_{false};
};

}  // namespace httpsys
