// One lane that two JavaScript environments use: neither hears of what is the other's, or can name
// it.

#include "engine/connection/attachment.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/lane.h"
#include "support/application.h"
#include "support/fake_javascript.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

using records::ReplyType;
using records::RequestType;
using test::Application;
using test::Peer;

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
class AttachmentTest : public testing::Test {
 protected:
  static constexpr uint32_t kFirst = 1;   // The server of `first_`.
  static constexpr uint32_t kSecond = 2;  // The server of `second_`.

  AttachmentTest() {
    first_.attachment()->replies().set_outlives_mistakes();
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
  files::ReadAhead ahead_;
  ForeignArenas arenas_;
  Lane lane_{0, &methods_, 1, &statistics_, [](uint16_t) {}, &ahead_, &arenas_};
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

TEST_F(AttachmentTest, AMistakeEndsItsOwnAttachmentOnly) {
  const Peer one = Ask(&first_, kFirst, 0);
  const Peer two = Ask(&second_, kSecond, 0);
  first_.Command(ReplyType::kRelease, 77);
  first_.Answer(0, "unread");
  second_.Answer(0, "second");
  EXPECT_EQ(two.Read(6), "second");
  EXPECT_TRUE(one.IsQuiet());
}

// The requests of the other one keep their place, and are not refused.
TEST_F(AttachmentTest, TheEndOfOneEnvironmentRefusesItsOwnRequestsOnly) {
  ServerSettings settings;
  settings.prefixes = test::WholePrefixes({"http://a:80/"});
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
  EXPECT_EQ(second_.attachment()->claimed().Take(second_.attachment()->requests().begun()),
            records::Claim::kNone);
  second_.Answer(0, "served");
  EXPECT_EQ(two.Read(6), "served");
}

TEST_F(AttachmentTest, AnEnvironmentThatDoesNotReadPausesItsOwnConnectionsOnly) {
  const Peer slow = Connect(kFirst);
  // More requests than the first one's segments hold.
  std::string many;
  for (size_t i = 0;
       i < Application::kSegments * Application::kSegmentBytes / records::kRequestFixedBytes; ++i) {
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
    const std::optional<Application::Record> record = first_.Next();
    ASSERT_TRUE(record.has_value());
    if (record->type == RequestType::kOpen) ++opened;
  }
}

}  // namespace
}  // namespace httpsys::engine
