#include "records/reply_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "base/limits.h"
#include "base/process_memory.h"
#include "records/words.h"

namespace httpsys {

uint32_t ReplyReader::AddSegment(std::span<const uint8_t> memory) {
  HTTPSYS_CHECK(memory.size() % records::kAlignBytes == 0);
  const std::lock_guard lock(mutex_);
  segments_.push_back(memory);
  return static_cast<uint32_t>(segments_.size() - 1);
}

bool ReplyReader::EnterSegment(uint32_t id) {
  const std::lock_guard lock(mutex_);
  if (id >= segments_.size()) return false;
  segment_ = segments_[id];
  segment_id_ = id;
  offset_ = 0;
  return true;
}

ReplyReader::Result ReplyReader::ReadRecord(ReplyRecord* reply) {
  if (read_total_ == seen_total_) {
    const uint32_t published = control_[records::kReplyPublished].load(std::memory_order_acquire);
    if (read_total_ == published) return Result::kNone;
    if (is_held_ != nullptr && is_held_->load(std::memory_order_acquire)) return Result::kNone;
    seen_total_ = published;
    if (segment_.empty() && !EnterSegment(0)) return Result::kMalformed;
  }
  const size_t room = std::min<size_t>(segment_.size() - offset_, seen_total_ - read_total_);
  if (room < records::kHeaderBytes) return Result::kMalformed;
  const uint32_t bytes = LoadField<records::kRecordBytes>(segment_.data() + offset_);
  if (bytes > room || bytes < records::kHeaderBytes || bytes % records::kAlignBytes != 0 ||
      !ReplyRecord::Read(segment_.subspan(offset_, bytes), reply)) {
    return Result::kMalformed;
  }
  read_total_ += bytes;
  reply_at_ = offset_;
  offset_ += bytes;
  return Result::kReply;
}

ReplyReader::Result ReplyReader::Next(ReplyRecord* reply) {
  while (!is_over_) {
    const Result result = ReadRecord(reply);
    if (result == Result::kReply && reply->type() == records::ReplyType::kJump) {
      if (segment_id_ >= limits::kReplySegmentsKept) surplus_.push_back(segment_);
      ++left_;
      is_over_ = !EnterSegment(reply->segment());
      continue;
    }
    is_over_ = result == Result::kMalformed;
    if (is_over_) reply_at_ = offset_;
    if (!is_over_) return result;
  }
  return Result::kMalformed;
}

void ReplyReader::End(const char* mistake) {
  is_over_ = true;
  if (outlives_mistakes_) return;
  std::fprintf(stderr, "httpsys: a reply at byte %zu of segment %u %s\n", reply_at_, segment_id_,
               mistake);
  std::abort();
}

void ReplyReader::GiveBack() {
  if (left_ == given_back_) return;
  given_back_ = left_;
  for (const std::span<const uint8_t> memory : surplus_) ReleasePages(memory);
  surplus_.clear();
  control_[records::kSegmentsDone].store(left_, std::memory_order_release);
}

}  // namespace httpsys
