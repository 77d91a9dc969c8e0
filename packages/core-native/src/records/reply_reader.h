#pragma once
// Reads the reply records that JavaScript writes for one lane.
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

// A mistake for ReplyReader::End().
inline constexpr const char* kUnknownBlock = "names a block that was not lent";

class ReplyReader {
 public:
  // While *is_held is true, Next() returns only records that it has already seen as published. So
  // commands that were queued, with *is_held set, before a record was published are handled before
  // the record. nullptr = never held.
  explicit ReplyReader(ControlBlock control, const std::atomic<bool>* is_held = nullptr)
      : control_(control), is_held_(is_held) {}
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Adds a segment, whose memory must outlive the reader. Returns its id. Thread: JavaScript.
  uint32_t AddSegment(std::span<const uint8_t> memory);

  // -- Thread: the lane.

  // True if Next() has not returned everything that was published. A full memory barrier.
  bool HasMore() const {
    return control_[records::kReplyPublished].load(std::memory_order_seq_cst) != read_total_;
  }
  enum class Result : uint8_t { kReply, kNone, kMalformed };
  // Reads the next reply, and follows kJump. kNone: no reply was published, or is_held. kMalformed:
  // the record is longer than its segment or than what was published, or its contents are longer
  // than the record. All later calls return kMalformed, too, and all calls after End().
  Result Next(ReplyRecord* reply);
  // Next() for the loop that handles replies: a malformed one is a mistake as in End(). Returns
  // false if there is no reply.
  bool NextOrEnd(ReplyRecord* reply) {
    const Result result = Next(reply);
    if (result == Result::kMalformed) End("is malformed");
    return result == Result::kReply;
  }
  // Must be called for a reply that JavaScript must not write: one that is malformed, names what
  // JavaScript does not have, or comes where it means nothing. Our own JavaScript has a mistake
  // then, and the process ends; no other function ends it for a reply. The caller must go on as if
  // the reply had not come: a process that serves the applications of others ends the attachment
  // only, of which nothing is read any more. `mistake` continues "a reply ...".
  void End(const char* mistake);
  // Makes End() end the attachment only.
  void set_outlives_mistakes() { outlives_mistakes_ = true; }
  bool is_over() const { return is_over_; }
  // The bytes that Next() has read so far, as far as 32 bits count them.
  uint32_t read_total() const { return read_total_; }
  // Must be called when nothing refers to the records of Next() any more. Gives the pages of
  // segments beyond the first limits::kReplySegmentsKept back to the system, so that a flood does
  // not keep its memory.
  void GiveBack();

 private:
  // Returns false if no such segment was added.
  bool EnterSegment(uint32_t id);
  // Reads the next record, kJump included.
  Result ReadRecord(ReplyRecord* reply);

  ControlBlock control_;
  const std::atomic<bool>* is_held_;
  std::mutex mutex_;
  std::vector<std::span<const uint8_t>> segments_;  // Guarded by mutex_.

  std::span<const uint8_t> segment_;
  uint32_t segment_id_ = 0;
  // Segments that were left since the last GiveBack() and need not keep their pages.
  std::vector<std::span<const uint8_t>> surplus_;
  size_t offset_ = 0;
  uint32_t read_total_ = 0;
  uint32_t seen_total_ = 0;
  uint32_t left_ = 0;
  uint32_t given_back_ = 0;
  size_t reply_at_ = 0;  // Where in its segment the last reply began.
  bool is_over_ = false;
  bool outlives_mistakes_ = false;
};

}  // namespace httpsys
