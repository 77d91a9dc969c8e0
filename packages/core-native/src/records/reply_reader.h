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
#include "records/replies.h"

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
  enum class Result : uint8_t { kReply, kNone, kMalformed };
  // The next reply. kNone: there is none, or is_held. kJump is followed. kMalformed: what was
  // published is longer than its segment, or than what it says of itself; all later calls give the
  // same.
  Result Next(ReplyRecord* reply);
  // The same, where a malformed reply is a mistake of our own JavaScript: it ends the process.
  // False: there is none.
  bool NextOrEnd(ReplyRecord* reply) {
    const Result result = Next(reply);
    if (result == Result::kMalformed) EndProcess(*reply);
    return result == Result::kReply;
  }
  // Nothing points into records that Next() returned any more. Pages of segments beyond the first
  // limits::kReplySegmentsKept go back to the system, so that a flood does not keep its memory.
  void GiveBack();

 private:
  // False: nobody has added it.
  bool EnterSegment(uint32_t id);
  // The next record as it stands, kJump among them.
  Result ReadRecord(ReplyRecord* reply);
  [[noreturn]] void EndProcess(const ReplyRecord& reply) const;

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
  bool is_malformed_ = false;
};

}  // namespace httpsys
