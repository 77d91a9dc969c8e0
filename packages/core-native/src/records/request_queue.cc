#include "records/request_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "records/words.h"

namespace httpsys {
namespace {

constexpr size_t kOversizeRecordBytes = 24;

}  // namespace

RequestQueue::RequestQueue(std::vector<std::span<uint8_t>> segments,
                           std::shared_ptr<BlockPool> pool)
    : segment_count_(segments.size()),
      segment_bytes_(segments.empty() ? 0 : segments[0].size()),
      segments_(std::make_unique<Segment[]>(segments.size())),
      block_pool_(std::move(pool)) {
  HTTPSYS_CHECK(segment_count_ >= 2 && segment_count_ <= kSegmentsMax);
  HTTPSYS_CHECK(segment_bytes_ >= 1024 && segment_bytes_ <= kOffsetMask && segment_bytes_ % 8 == 0);
  for (size_t i = 0; i < segment_count_; ++i) {
    HTTPSYS_CHECK(segments[i].size() == segment_bytes_);
    segments_[i].memory = segments[i];
  }
  for (size_t i = segment_count_ - 1; i > 0; --i) free_.push_back(i);
}

uint8_t* RequestQueue::Append(size_t bytes) {
  if (bytes > segment_bytes_) return AppendOversize(bytes);
  if (backlog_bytes_ == 0) {
    if (write_offset_ + bytes <= segment_bytes_ || MoveToNextSegment()) {
      uint8_t* record = segments_[write_segment_].memory.data() + write_offset_;
      write_offset_ += bytes;
      return record;
    }
  }
  const size_t words = bytes / sizeof(uint64_t);
  const size_t words_max = segment_bytes_ / sizeof(uint64_t);
  if (backlog_.empty() || backlog_.back().size() + words > words_max) {
    backlog_.emplace_back().reserve(words_max);
  }
  std::vector<uint64_t>& last = backlog_.back();
  const size_t at = last.size();
  last.resize(at + words);
  backlog_bytes_ += bytes;
  return reinterpret_cast<uint8_t*>(last.data() + at);
}

uint8_t* RequestQueue::AppendOversize(size_t bytes) {
  Block block;
  block.memory.reset(static_cast<uint8_t*>(std::malloc(bytes)));
  HTTPSYS_CHECK(block.memory != nullptr);
  block.bytes = bytes;
  uint8_t* memory = block.memory.get();
  const uint32_t id = blocks_.Put(std::move(block));
  uint8_t* record = Append(kOversizeRecordBytes);
  StoreHeader(record, kOversizeRecordBytes, records::RequestType::kOversize, 0, 0);
  StoreField<records::kOversizeBytes>(record, static_cast<uint32_t>(bytes));
  StoreField<records::kOversizeBlockId>(record, id);
  return memory;
}

bool RequestQueue::MoveToNextSegment() {
  // JavaScript reads segments, and so releases them, in the order in which they were sealed.
  const uint64_t released = released_.load(std::memory_order_seq_cst);
  const auto count = static_cast<std::ptrdiff_t>(released - known_released_);
  known_released_ = released;
  free_.insert(free_.end(), sealed_.begin(), sealed_.begin() + count);
  sealed_.erase(sealed_.begin(), sealed_.begin() + count);
  if (free_.empty()) return false;
  const size_t next = free_.back();
  free_.pop_back();
  sealed_unpublished_ += write_offset_ - published_offset_;
  segments_[write_segment_].published.store(
      static_cast<uint32_t>(write_offset_) | static_cast<uint32_t>(next << kNextShift) | kSealed,
      std::memory_order_seq_cst);
  sealed_since_publish_ = true;
  sealed_.push_back(write_segment_);
  write_segment_ = next;
  write_offset_ = published_offset_ = 0;
  return true;
}

void RequestQueue::FlushBacklog() {
  while (!backlog_.empty()) {
    const auto* first = reinterpret_cast<const uint8_t*>(backlog_.front().data());
    const size_t end = backlog_.front().size() * sizeof(uint64_t);
    while (backlog_at_ < end) {
      const uint8_t* record = first + backlog_at_;
      const size_t bytes = LoadField<records::kRecordBytes>(record);
      if (write_offset_ + bytes > segment_bytes_ && !MoveToNextSegment()) return;
      std::memcpy(segments_[write_segment_].memory.data() + write_offset_, record, bytes);
      write_offset_ += bytes;
      backlog_at_ += bytes;
      backlog_bytes_ -= bytes;
    }
    backlog_.pop_front();
    backlog_at_ = 0;
  }
}

bool RequestQueue::Publish() {
  if (backlog_bytes_ != 0) {
    is_waiting_.store(false, std::memory_order_seq_cst);
    FlushBacklog();
    if (backlog_bytes_ != 0) {
      // A segment that was released between the first look and this store would go unnoticed: look
      // again.
      is_waiting_.store(true, std::memory_order_seq_cst);
      FlushBacklog();
      if (backlog_bytes_ == 0) is_waiting_.store(false, std::memory_order_seq_cst);
    }
  }
  const bool is_news = sealed_since_publish_ || write_offset_ != published_offset_;
  sealed_since_publish_ = false;
  published_total_ += std::exchange(sealed_unpublished_, 0);
  if (write_offset_ != published_offset_) {
    published_total_ += write_offset_ - published_offset_;
    published_offset_ = write_offset_;
    segments_[write_segment_].published.store(static_cast<uint32_t>(write_offset_),
                                              std::memory_order_seq_cst);
  }
  return is_news;
}

bool RequestQueue::Next(Region* region) {
  for (;;) {
    const uint32_t published = segments_[read_segment_].published.load(std::memory_order_seq_cst);
    const uint32_t end = published & kOffsetMask;
    if (read_offset_ < end) {
      *region = {static_cast<uint32_t>(read_segment_), read_offset_, end};
      return true;
    }
    if ((published & kSealed) == 0) return false;
    ReleaseSegment(published);
  }
}

void RequestQueue::BeginReading() {
  const uint64_t total = consumed_total_.load(std::memory_order_relaxed) - read_offset_;
  // Stored after the offset: a reader that sees this total does not see the offset in the previous
  // segment.
  segment_total_.store(total, std::memory_order_release);
}

uint64_t RequestQueue::begun() const {
  for (;;) {
    const uint64_t total = segment_total_.load(std::memory_order_acquire);
    const uint32_t offset = reading_ == nullptr ? 0 : reading_->load(std::memory_order_seq_cst);
    // If the offset is already that of the next segment, the total has changed: read both again.
    if (segment_total_.load(std::memory_order_acquire) != total) continue;
    // Between two segments the offset may already be 0. Then all earlier bytes are consumed.
    return std::max(consumed(), total + offset);
  }
}

void RequestQueue::ReleaseSegment(uint32_t published) {
  // The order is safe: the lane reuses the segment only after it has seen released_.
  segments_[read_segment_].published.store(0, std::memory_order_relaxed);
  released_.fetch_add(1, std::memory_order_seq_cst);
  read_segment_ = (published & ~kSealed) >> kNextShift;
  read_offset_ = 0;
}

bool RequestQueue::Consume(uint32_t offset) {
  HTTPSYS_CHECK(offset >= read_offset_ && offset <= segment_bytes_);
  // Pairs with AskForWake(): either the lane sees this total, or this thread sees that the lane
  // waits.
  consumed_total_.store(consumed_total_.load(std::memory_order_relaxed) + (offset - read_offset_),
                        std::memory_order_seq_cst);
  read_offset_ = offset;
  const uint32_t published = segments_[read_segment_].published.load(std::memory_order_seq_cst);
  const bool is_sealed = (published & kSealed) != 0;
  if (is_sealed && (published & kOffsetMask) == offset) ReleaseSegment(published);
  return is_waiting_.load(std::memory_order_seq_cst) &&
         is_waiting_.exchange(false, std::memory_order_seq_cst);
}

}  // namespace httpsys
