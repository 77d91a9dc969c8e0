#pragma once
// Reads the reply records that JavaScript writes for one lane.
//
// JavaScript fills segments, continues in another one after a kJump record, and counts published
// bytes in the control block. Memory that was read stays valid until GiveBack().

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "records/control_block.h"
#include "records/replies.h"

namespace httpsys {

// A message for ReplyReader::End(): the reply names a block that was not lent.
inline constexpr const char* kUnknownBlock = "names a block that was not lent";

class ReplyReader {
 public:
  // While *is_held is true, Next() returns only records that it has already seen as published. Use:
  // set *is_held, queue commands, then publish a record; the lane handles the commands before that
  // record. nullptr = never held.
  explicit ReplyReader(ControlBlock control, const std::atomic<bool>* is_held = nullptr)
      : control_(control), is_held_(is_held) {}
  ReplyReader& operator=(ReplyReader&&) = delete;

  // Adds a segment, whose memory must outlive the reader. Returns its id. Thread: JavaScript.
  uint32_t AddSegment(std::span<const uint8_t> memory);

  // -- Thread: the lane.

  // True if Next() has not returned all published records. Also a full memory barrier.
  bool HasMore() const {
    return control_[records::kReplyPublished].load(std::memory_order_seq_cst) != read_total_;
  }
  enum class Result : uint8_t { kReply, kNone, kMalformed };
  // Reads the next reply, and follows kJump. Returns kNone if no reply was published or *is_held is
  // true. Returns kMalformed if the record is longer than its segment or than the published bytes,
  // or its contents are longer than the record. After kMalformed or End(), all calls return
  // kMalformed.
  Result Next(ReplyRecord* reply);
  // Like Next(), but calls End() for a malformed reply. Returns false if there is no reply.
  bool NextOrEnd(ReplyRecord* reply) {
    const Result result = Next(reply);
    if (result == Result::kMalformed) End("is malformed");
    return result == Result::kReply;
  }
  // Must be called for a reply that JavaScript must not write: it is malformed, names an unknown
  // object, or is not allowed in the current state. That is a bug in our JavaScript, and the
  // process ends; no other function ends it for a reply. The caller must continue as if the reply
  // had not come: a process that serves other people's applications ends only the attachment and
  // reads nothing more of it. `mistake` continues the sentence "a reply ...".
  void End(const char* mistake);
  // Makes End() end only the attachment, not the process.
  void set_outlives_mistakes() { outlives_mistakes_ = true; }
  bool is_over() const { return is_over_; }
  // The number of bytes that Next() has read so far, modulo 2^32.
  uint32_t read_total() const { return read_total_; }
  // Must be called when nothing refers to the records of Next() any more. Returns the pages of
  // segments beyond the first limits::kReplySegmentsKept to the system, so the memory of a flood
  // does not stay allocated.
  void GiveBack();

 private:
  // Continues in another segment. Returns false if no segment has this id.
  bool EnterSegment(uint32_t id);
  // Reads the next record, which may be a kJump.
  Result ReadRecord(ReplyRecord* reply);

  ControlBlock control_;
  const std::atomic<bool>* is_held_;
  std::mutex mutex_;
  std::vector<std::span<const uint8_t>> segments_;  // Guarded by mutex_.

  std::span<const uint8_t> segment_;
  uint32_t segment_id_ = 0;
  // Segments left since the last GiveBack() whose pages will be returned to the system.
  std::vector<std::span<const uint8_t>> surplus_;
  size_t offset_ = 0;
  uint32_t read_total_ = 0;
  uint32_t seen_total_ = 0;
  uint32_t left_ = 0;
  uint32_t given_back_ = 0;
  size_t reply_at_ = 0;  // Offset of the last reply in its segment.
  bool is_over_ = false;
  bool outlives_mistakes_ = false;
};

}  // namespace httpsys
