#pragma once
// A JavaScript environment at a lane, played by the test: one of several that the lane may have.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/connection/attachment.h"
#include "engine/lane.h"
#include "records/words.h"

namespace httpsys::test {

// Thread: the test's; only wake-ups come from elsewhere.
class Application {
 public:
  static constexpr size_t kSegments = 2;
  static constexpr size_t kSegmentBytes = 4096;

  struct Record {
    records::RequestType type;
    uint32_t slot;
  };

  explicit Application(engine::Lane* lane) : lane_(lane) {
    LaneMemory memory;
    memory.control = words_.data();
    for (auto& segment : segments_) {
      segment.resize(kSegmentBytes / 8);
      memory.segments.emplace_back(reinterpret_cast<uint8_t*>(segment.data()), kSegmentBytes);
    }
    attachment_ = lane->Attach(memory, &signal_);
    attachment_->replies().AddSegment(
        {reinterpret_cast<uint8_t*>(replies_.data()), replies_.size() * 8});
  }

  engine::Attachment* attachment() { return attachment_; }

  // The next record, waiting for up to `timeout_ms`.
  std::optional<Record> Next(int timeout_ms = 5000) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (records_.empty() && !Read()) {
      std::unique_lock lock(mutex_);
      if (!woken_.wait_until(lock, deadline, [this] { return is_woken_; })) return std::nullopt;
      is_woken_ = false;
    }
    if (records_.empty()) return std::nullopt;
    const Record record = records_.front();
    records_.erase(records_.begin());
    return record;
  }

  // The slot of the next record, which must be of this type.
  uint32_t Expect(records::RequestType type) {
    const std::optional<Record> record = Next();
    EXPECT_TRUE(record.has_value());
    if (!record.has_value()) return 0;
    EXPECT_EQ(static_cast<int>(record->type), static_cast<int>(type));
    return record->slot;
  }

  bool IsQuiet() { return !Next(50).has_value(); }

  void Answer(uint32_t slot, std::string_view text) {
    uint8_t* record = Begin(records::ReplyType::kResponse, slot, records::kReplyEnd,
                            records::kResponseFixedBytes + text.size());
    StoreField<records::kResponseHeadBytes>(record, static_cast<uint32_t>(text.size()));
    std::memcpy(record + records::kResponseFixedBytes, text.data(), text.size());
    Publish();
  }

  // Any record: words from the fifth on.
  void Reply(records::ReplyType type, uint32_t slot, uint32_t flags,
             const std::vector<uint32_t>& words) {
    uint8_t* record = Begin(type, slot, flags, records::kHeaderBytes + words.size() * 4);
    for (size_t i = 0; i < words.size(); ++i) StoreWord(record, 4 + i, words[i]);
    Publish();
  }

  void Command(records::ReplyType type, uint32_t slot) {
    Begin(type, slot, 0, records::kHeaderBytes);
    Publish();
  }

 private:
  // Returns false if there was nothing but records that are of no interest here.
  bool Read() {
    RequestQueue& queue = attachment_->requests();
    RequestQueue::Region region;
    while (queue.Next(&region)) {
      const auto* memory = reinterpret_cast<const uint8_t*>(segments_[region.segment].data());
      for (uint32_t at = region.start; at < region.end; at += LoadWord(memory + at, 0)) {
        const auto type =
            static_cast<records::RequestType>(LoadField<records::kRecordType>(memory + at));
        if (type == records::RequestType::kIntern || type == records::RequestType::kCredit)
          continue;
        records_.push_back({type, LoadField<records::kRecordSlot>(memory + at)});
      }
      if (queue.Consume(region.end)) lane_->Wake();
    }
    return !records_.empty();
  }

  uint8_t* Begin(records::ReplyType type, uint32_t slot, uint32_t flags, size_t bytes) {
    uint8_t* record = reinterpret_cast<uint8_t*>(replies_.data()) + published_;
    bytes_ = AlignRecord(bytes);
    StoreHeader(record, bytes_, static_cast<records::RequestType>(type), flags, slot);
    return record;
  }

  void Publish() {
    published_ += static_cast<uint32_t>(bytes_);
    ControlBlock(words_.data())[records::kReplyPublished].store(published_);
    lane_->WakeIfSleeping(attachment_);
  }

  engine::Lane* lane_;
  std::vector<int32_t> words_ = std::vector<int32_t>(records::kControlWords);
  std::vector<std::vector<uint64_t>> segments_{kSegments};
  std::vector<uint64_t> replies_ = std::vector<uint64_t>(8 * 1024);
  uint32_t published_ = 0;
  size_t bytes_ = 0;
  std::vector<Record> records_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
  ConsumerSignal signal_{[this] {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    woken_.notify_all();
  }};
  engine::Attachment* attachment_ = nullptr;
};

}  // namespace httpsys::test
