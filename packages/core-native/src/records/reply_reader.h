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
  // Reads the next reply, and follows kJump. kNone: no reply was published, or is_held. kMalformed:
  // the record is longer than its segment or than what was published, or its contents are longer
  // than the record. All later calls return kMalformed, too.
  Result Next(ReplyRecord* reply);
  // Next() for replies of our own JavaScript, where a malformed one is our mistake and ends the
  // process. Returns false if there is no reply.
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
