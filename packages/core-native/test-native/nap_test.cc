// When a lane lets replies gather, and when it sends what there is.

#include "engine/nap.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "engine/connection/attachment.h"

namespace httpsys::engine {
namespace {

class NapTest : public testing::Test {
 protected:
  NapTest() {
    attachment_ = attachments_.Add(std::make_unique<Attachment>(
        control_, std::vector<std::span<uint8_t>>{Bytes(&first_), Bytes(&second_)}, &signal_,
        std::make_shared<BlockPool>(), &is_held_));
    attachment_->requests().Append(8);
    attachment_->Publish();
  }

  // A request that JavaScript has not read is there already.
  void OpenBatch() { control_[records::kBatchOpen].store(1); }
  void EndBatch() { control_[records::kBatchOpen].store(0); }
  void ReadRequests() {
    RequestQueue::Region region;
    ASSERT_TRUE(attachment_->requests().Next(&region));
    attachment_->requests().Consume(region.end);
  }
  void Reply() { control_[records::kReplyPublished].fetch_add(records::kHeaderBytes); }

  // Takes naps until End() has ended one of them. Naps that nobody ends are followed by others, as
  // the test may not get its turn for longer than limits::kNapUs.
  bool IsNapEnded() {
    std::atomic<bool> has_ended{false};
    std::thread javascript([&] {
      while (!has_ended) {
        if (nap_.End()) has_ended = true;
      }
    });
    bool is_called = false;
    for (int i = 0; i < 10'000 && !is_called; ++i) is_called = nap_.Take();
    has_ended = true;
    javascript.join();
    return is_called;
  }

  static std::span<uint8_t> Bytes(std::vector<uint64_t>* words) {
    return {reinterpret_cast<uint8_t*>(words->data()), words->size() * 8};
  }

  std::vector<int32_t> words_ = std::vector<int32_t>(records::kControlWords);
  ControlBlock control_{words_.data()};
  std::vector<uint64_t> first_ = std::vector<uint64_t>(512);
  std::vector<uint64_t> second_ = std::vector<uint64_t>(512);
  ConsumerSignal signal_{[] {}};
  std::atomic<bool> is_held_{false};
  Attachments attachments_;
  Attachment* attachment_ = nullptr;
  Nap nap_{&attachments_};
};

TEST_F(NapTest, ALaneWithoutRepliesNaps) { EXPECT_TRUE(IsNapEnded()); }

TEST_F(NapTest, RepliesOfAnOpenBatchGather) {
  OpenBatch();
  Reply();
  EXPECT_TRUE(attachments_.MayGatherReplies());
  EXPECT_TRUE(IsNapEnded());
}

TEST_F(NapTest, RepliesAfterABatchDoNotWait) {
  OpenBatch();
  Reply();
  EndBatch();
  EXPECT_FALSE(attachments_.MayGatherReplies());
  EXPECT_FALSE(IsNapEnded());
}

// What stands in the word is JavaScript's, and may be wrong.
TEST_F(NapTest, RepliesDoNotWaitForABatchWithoutRequests) {
  OpenBatch();
  Reply();
  ReadRequests();
  EXPECT_FALSE(attachments_.MayGatherReplies());
}

TEST_F(NapTest, RepliesToOneEnvironmentDoNotWaitForTheBatchOfAnother) {
  std::vector<int32_t> words(records::kControlWords);
  std::vector<uint64_t> memory[2] = {first_, second_};
  attachments_.Add(std::make_unique<Attachment>(
      ControlBlock(words.data()), std::vector{Bytes(&memory[0]), Bytes(&memory[1])}, &signal_,
      std::make_shared<BlockPool>(), &is_held_));
  OpenBatch();
  Reply();
  EXPECT_TRUE(attachments_.MayGatherReplies());
  ControlBlock(words.data())[records::kReplyPublished] = records::kHeaderBytes;
  EXPECT_FALSE(attachments_.MayGatherReplies());
}

}  // namespace
}  // namespace httpsys::engine
