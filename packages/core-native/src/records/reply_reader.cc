#include "records/reply_reader.h"

#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "base/check.h"
#include "base/limits.h"
#include "records/words.h"

namespace httpsys {
namespace {

// The whole pages of memory whose bytes nobody needs any more. Reading them afterwards is allowed.
void ReleasePages(std::span<const uint8_t> memory) {
#ifndef _WIN32
  static const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before =
      (page_bytes - reinterpret_cast<uintptr_t>(memory.data()) % page_bytes) % page_bytes;
  if (memory.size() < before + page_bytes) return;
  const size_t bytes = (memory.size() - before) / page_bytes * page_bytes;
#ifdef __linux__
  constexpr int kAdvice = MADV_DONTNEED;
#else
  constexpr int kAdvice = MADV_FREE;
#endif
  (void)madvise(const_cast<uint8_t*>(memory.data()) + before, bytes, kAdvice);
#else
  (void)memory;
#endif
}

}  // namespace

uint32_t ReplyReader::AddSegment(std::span<const uint8_t> memory) {
  HTTPSYS_CHECK(memory.size() % records::kAlignBytes == 0);
  const std::lock_guard lock(mutex_);
  segments_.push_back(memory);
  return static_cast<uint32_t>(segments_.size() - 1);
}

std::span<const uint8_t> ReplyReader::FindSegment(uint32_t id) {
  const std::lock_guard lock(mutex_);
  HTTPSYS_CHECK(id < segments_.size());
  return segments_[id];
}

const uint8_t* ReplyReader::Next() {
  for (;;) {
    if (read_total_ == seen_total_) {
      const uint32_t published = control_[records::kReplyPublished].load(std::memory_order_acquire);
      if (read_total_ == published) return nullptr;
      if (is_held_ != nullptr && is_held_->load(std::memory_order_acquire)) return nullptr;
      seen_total_ = published;
      if (segment_.empty()) segment_ = FindSegment(0);
    }
    HTTPSYS_CHECK(offset_ + records::kHeaderBytes <= segment_.size());
    const uint8_t* record = segment_.data() + offset_;
    const uint32_t bytes = LoadWord(record, 0);
    HTTPSYS_CHECK(bytes >= records::kHeaderBytes && bytes % records::kAlignBytes == 0);
    HTTPSYS_CHECK(bytes <= segment_.size() - offset_ && bytes <= seen_total_ - read_total_);
    read_total_ += bytes;
    offset_ += bytes;
    if ((LoadWord(record, 1) & 0xff) != static_cast<uint32_t>(records::ReplyType::kJump)) {
      return record;
    }
    if (segment_id_ >= limits::kReplySegmentsKept) surplus_.push_back(segment_);
    segment_id_ = LoadWord(record, 2);
    segment_ = FindSegment(segment_id_);
    offset_ = 0;
    ++left_;
  }
}

void ReplyReader::GiveBack() {
  if (left_ == given_back_) return;
  given_back_ = left_;
  for (const std::span<const uint8_t> memory : surplus_) ReleasePages(memory);
  surplus_.clear();
  control_[records::kSegmentsDone].store(left_, std::memory_order_release);
}

}  // namespace httpsys
