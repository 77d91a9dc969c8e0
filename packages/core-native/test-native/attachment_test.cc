// One lane that two JavaScript environments use: neither hears of what is the other's, or can name
// it.

#include "engine/connection/attachment.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/lane.h"
#include "records/words.h"
#include "support/fake_javascript.h"

namespace httpsys::engine {
namespace {

using records::ReplyType;
using records::RequestType;
using test::Peer;

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr size_t kSegments = 2;
constexpr size_t kSegmentBytes = 4096;

struct Record {
  RequestType type;
  uint32_t slot;
};

// A JavaScript environment at the lane. Thread: the test's; only wake-ups come from elsewhere.
class Application {
 public:
  explicit Application(Lane* lane) : lane_(lane) {
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

  Attachment* attachment() { return attachment_; }

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
  uint32_t Expect(RequestType type) {
    const std::optional<Record> record = Next();
    EXPECT_TRUE(record.has_value());
    if (!record.has_value()) return 0;
    EXPECT_EQ(static_cast<int>(record->type), static_cast<int>(type));
    return record->slot;
  }

  bool IsQuiet() { return !Next(50).has_value(); }

  void Answer(uint32_t slot, std::string_view text) {
    uint8_t* record = Begin(ReplyType::kResponse, slot, records::kReplyEnd,
                            records::kResponseFixedBytes + text.size());
    StoreField<records::kResponseHeadBytes>(record, static_cast<uint32_t>(text.size()));
    std::memcpy(record + records::kResponseFixedBytes, text.data(), text.size());
    Publish();
  }

  void Command(ReplyType type, uint32_t slot) {
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
        const auto type = static_cast<RequestType>(LoadField<records::kRecordType>(memory + at));
        if (type == RequestType::kIntern || type == RequestType::kCredit) continue;
        records_.push_back({type, LoadField<records::kRecordSlot>(memory + at)});
      }
      if (queue.Consume(region.end)) lane_->Wake();
    }
    return !records_.empty();
  }

  uint8_t* Begin(ReplyType type, uint32_t slot, uint32_t flags, size_t bytes) {
    uint8_t* record = reinterpret_cast<uint8_t*>(replies_.data()) + published_;
    bytes_ = AlignRecord(bytes);
    StoreHeader(record, bytes_, static_cast<RequestType>(type), flags, slot);
    return record;
  }

  void Publish() {
    published_ += static_cast<uint32_t>(bytes_);
    ControlBlock(words_.data())[records::kReplyPublished].store(published_);
    lane_->WakeIfSleeping(attachment_);
  }

  Lane* lane_;
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
  Attachment* attachment_ = nullptr;
};

class AttachmentTest : public testing::Test {
 protected:
  static constexpr uint32_t kFirst = 1;   // The server of `first_`.
  static constexpr uint32_t kSecond = 2;  // The server of `second_`.

  AttachmentTest() {
    EXPECT_EQ(lane_.Start(nullptr), 0);
    lane_.commands().SetConfig(first_.attachment(), kFirst, ServerConfig::Create({}));
    lane_.commands().SetConfig(second_.attachment(), kSecond, ServerConfig::Create({}));
  }
  ~AttachmentTest() override { lane_.Stop(); }

  Peer Connect(uint32_t server_id) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    lane_.commands().Adopt(server_id, {ends[0]});
    return Peer(ends[1]);
  }

  // A connection with a request that waits for its answer, in this slot.
  Peer Ask(Application* application, uint32_t server_id, uint32_t slot) {
    Peer peer = Connect(server_id);
    EXPECT_EQ(application->Expect(RequestType::kOpen), slot);
    peer.Send(kGet);
    EXPECT_EQ(application->Expect(RequestType::kRequest), slot);
    return peer;
  }

  http1::MethodTable methods_{{"GET", "HEAD", "POST"}};
  PortStatistics statistics_;
  Lane lane_{0, &methods_, 1, &statistics_, [](uint16_t) {}};
  Application first_{&lane_};
  Application second_{&lane_};
};

TEST_F(AttachmentTest, RequestsArriveInTheQueueOfTheirServersAttachment) {
  const Peer one = Ask(&first_, kFirst, 0);
  EXPECT_TRUE(second_.IsQuiet());
  const Peer two = Ask(&second_, kSecond, 0);
  EXPECT_TRUE(first_.IsQuiet());
  first_.Answer(0, "first");
  second_.Answer(0, "second");
  EXPECT_EQ(one.Read(5), "first");
  EXPECT_EQ(two.Read(6), "second");
}

TEST_F(AttachmentTest, ASlotOfTheOtherAttachmentNamesNothing) {
  const Peer own = Ask(&first_, kFirst, 0);
  const Peer other = Ask(&second_, kSecond, 0);
  const Peer another = Ask(&second_, kSecond, 1);
  first_.Answer(1, "forged");
  first_.Command(ReplyType::kDestroy, 1);
  first_.Command(ReplyType::kReset, 1);
  first_.Answer(0, "own");
  EXPECT_EQ(own.Read(3), "own");
  EXPECT_TRUE(other.IsQuiet());
  EXPECT_TRUE(another.IsQuiet());
  EXPECT_TRUE(second_.IsQuiet());
  second_.Answer(1, "right");
  EXPECT_EQ(another.Read(5), "right");
}

TEST_F(AttachmentTest, AReleasedSlotIsFreeInItsOwnAttachmentOnly) {
  const Peer own = Ask(&first_, kFirst, 0);
  const Peer other = Ask(&second_, kSecond, 0);
  first_.Command(ReplyType::kDestroy, 0);
  EXPECT_EQ(first_.Expect(RequestType::kClosed), 0u);
  first_.Command(ReplyType::kRelease, 0);
  const Peer next = Connect(kSecond);
  EXPECT_EQ(second_.Expect(RequestType::kOpen), 1u);
  second_.Answer(0, "still");
  EXPECT_EQ(other.Read(5), "still");
}

TEST_F(AttachmentTest, AServerStaysWithTheAttachmentThatMadeIt) {
  lane_.commands().SetConfig(second_.attachment(), kFirst, ServerConfig::Create({}));
  const Peer one = Ask(&first_, kFirst, 0);
  EXPECT_TRUE(second_.IsQuiet());
}

TEST_F(AttachmentTest, ABlockIsKnownToTheAttachmentThatLentItOnly) {
  const std::string bytes = "block";
  const uint32_t id = first_.attachment()->lent().Lend(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  LentMemory::View view;
  EXPECT_TRUE(first_.attachment()->lent().Find(id, &view));
  EXPECT_FALSE(second_.attachment()->lent().Find(id, &view));
}

// The requests of the other one keep their place, and are not refused.
TEST_F(AttachmentTest, TheEndOfOneEnvironmentRefusesItsOwnRequestsOnly) {
  ServerSettings settings;
  settings.prefixes = {"http://a:80/"};
  lane_.commands().SetConfig(first_.attachment(), kFirst, ServerConfig::Create(settings));
  lane_.commands().SetConfig(second_.attachment(), kSecond, ServerConfig::Create(settings));
  const Peer one = Connect(kFirst);
  const Peer two = Connect(kSecond);
  one.Send(kGet);
  two.Send(kGet);
  // Both requests are with JavaScript, which has not begun them.
  while (statistics_.ServerOf(kFirst)->queued == 0 || statistics_.ServerOf(kSecond)->queued == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  lane_.commands().RefuseAbandoned(first_.attachment());
  EXPECT_EQ(one.Read(12), "HTTP/1.1 503");
  EXPECT_TRUE(two.IsQuiet());
  EXPECT_EQ(second_.Expect(RequestType::kOpen), 0u);
  EXPECT_EQ(second_.Expect(RequestType::kRequest), 0u);
  EXPECT_FALSE(second_.attachment()->refused().Take(second_.attachment()->requests().begun()));
  second_.Answer(0, "served");
  EXPECT_EQ(two.Read(6), "served");
}

TEST_F(AttachmentTest, AnEnvironmentThatDoesNotReadPausesItsOwnConnectionsOnly) {
  const Peer slow = Connect(kFirst);
  // More requests than the first one's segments hold.
  std::string many;
  for (size_t i = 0; i < kSegments * kSegmentBytes / records::kRequestFixedBytes; ++i) {
    many.append(kGet);
  }
  slow.TrySend(many);
  std::vector<Peer> more;
  for (int i = 0; i < 100; ++i) more.push_back(Connect(kFirst));
  const Peer quick = Ask(&second_, kSecond, 0);
  second_.Answer(0, "quick");
  EXPECT_EQ(quick.Read(5), "quick");
  // What was paused goes on.
  size_t opened = 0;
  while (opened < 101) {
    const std::optional<Record> record = first_.Next();
    ASSERT_TRUE(record.has_value());
    if (record->type == RequestType::kOpen) ++opened;
  }
}

}  // namespace
}  // namespace httpsys::engine
