#pragma once
// The reply records of one lane on their way from JavaScript.
//
// JavaScript fills segments, jumps between them with kJump and counts published bytes in the
// control block. Memory that was read stays valid until GiveBack().

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "records/control_block.h"

namespace httpsys {

class ReplyReader {
 public:
  // While `is_held` nothing that Next() has not seen is returned: whoever sets it before a record
  // is published is heard first. nullptr: never.
  explicit ReplyReader(ControlBlock control, const std::atomic<bool>* is_held = nullptr)
      : control_(control), is_held_(is_held) {}
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Thread: JavaScript. The memory must outlive the reader. Returns the segment's id.
  uint32_t AddSegment(std::span<const uint8_t> memory);

  // -- Thread: the lane.

  // Something was published that Next() has not returned. A full barrier.
  bool HasMore() const {
    return control_[records::kReplyPublished].load(std::memory_order_seq_cst) != read_total_;
  }
  // The next record, or nullptr when there is none, or is_held; kJump records are followed. A
  // record that does not fit where it stands is a mistake of our own JavaScript and ends the
  // process.
  const uint8_t* Next();
  // Nothing points into records that Next() returned any more. Pages of segments beyond the first
  // limits::kReplySegmentsKept go back to the system, so that a flood does not keep its memory.
  void GiveBack();

 private:
  std::span<const uint8_t> FindSegment(uint32_t id);

  ControlBlock control_;
  const std::atomic<bool>* is_held_;
  std::mutex mutex_;
  std::vector<std::span<const uint8_t>> segments_;  // Guarded by mutex_.

  std::span<const uint8_t> segment_;
  uint32_t segment_id_ = 0;
  // Segments that were left since the last GiveBack() and keep no pages.
  std::vector<std::span<const uint8_t>> surplus_;
  size_t offset_ = 0;
  uint32_t read_total_ = 0;
  uint32_t seen_total_ = 0;
  uint32_t left_ = 0;
  uint32_t given_back_ = 0;
};

}  // namespace httpsys
