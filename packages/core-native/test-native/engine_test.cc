// Listening, several lanes, draining and closing of a whole engine.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/fake_javascript.h"
#include "support/whole_prefixes.h"

namespace httpsys::test {
namespace {

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

struct Bound {
  int fd = -1;
  uint16_t port = 0;
};

Bound Bind() {
  Bound bound;
  bound.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(bound.fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  getsockname(bound.fd, reinterpret_cast<sockaddr*>(&address), &size);
  bound.port = ntohs(address.sin_port);
  return bound;
}

int TryConnect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

int OpenDescriptors() {
  int count = 0;
  for (int fd = 0; fd < 4096; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) ++count;
  }
  return count;
}

// By the acceptor's thread, or by the lane.
class AcceptingTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Lend, AcceptingTest, testing::Bool());

// Its connections wait already when it begins to listen.
TEST_P(AcceptingTest, AServerIsKnownBeforeItsFirstConnection) {
  FakeJavaScript js;
  const Bound bound = Bind();
  ASSERT_EQ(listen(bound.fd, 64), 0);
  std::vector<Peer> peers;
  for (uint32_t server = 1; server <= 200; ++server) {
    const Peer& peer = peers.emplace_back(TryConnect(bound.port));
    if (server > 1) js.backend().Unlisten(server - 1);
    ASSERT_EQ(js.backend().Configure(server, {}), 0);
    ASSERT_GT(js.backend().Listen(server, Descriptor(bound.fd), 64, GetParam()), 0);
    peer.Send(kGet);
    // The idle connection of the server before ends with it, at whatever moment.
    const auto next = [&js] {
      std::optional<Event> event = js.Next();
      while (event && event->type == RequestType::kClosed) event = js.Next();
      return event;
    };
    const std::optional<Event> open = next();
    ASSERT_TRUE(open && open->type == RequestType::kOpen) << server;
    const std::optional<Event> request = next();
    ASSERT_TRUE(request && request->type == RequestType::kRequest) << server;
    js.Answer(request->slot, "x");
    ASSERT_NE(peer.Read(39).find("200 OK"), std::string::npos) << server;
  }
  close(bound.fd);
}

TEST(EngineTest, ConnectionsToAListenerAreSpreadOverTheLanes) {
  FakeJavaScript js({.lanes = 3});
  ASSERT_EQ(js.backend().Configure(1, {}), 0);
  const Bound bound = Bind();
  ASSERT_GT(js.backend().Listen(1, Descriptor(bound.fd), 64, false), 0);
  std::vector<Peer> peers;
  std::vector<int> per_lane(3);
  for (int i = 0; i < 30; ++i) {
    peers.emplace_back(TryConnect(bound.port));
    const Event open = js.Expect(RequestType::kOpen);
    ++per_lane[open.lane];
    peers.back().Send(kGet);
    const Event request = js.Expect(RequestType::kRequest);
    EXPECT_EQ(request.lane, open.lane);
    js.set_lane(request.lane);
    js.Answer(request.slot, "x");
    EXPECT_NE(peers.back().Read(39).find("200 OK"), std::string::npos);
  }
  for (const int count : per_lane) EXPECT_EQ(count, 10);
  close(bound.fd);
}

TEST_P(AcceptingTest, AfterUnlistenThePortIsFreeAndConnectionsStay) {
  FakeJavaScript js;
  ASSERT_EQ(js.backend().Configure(1, {}), 0);
  const Bound bound = Bind();
  ASSERT_GT(js.backend().Listen(1, Descriptor(bound.fd), 64, GetParam()), 0);
  const Peer peer(TryConnect(bound.port));
  js.Expect(RequestType::kOpen);
  js.backend().Unlisten(1);
  close(bound.fd);
  EXPECT_EQ(TryConnect(bound.port), -1);
  peer.Send(kGet);
  js.Answer(js.Expect(RequestType::kRequest).slot, "x");
  EXPECT_NE(peer.Read(39).find("200 OK"), std::string::npos);
}

TEST_P(AcceptingTest, OneOfTheSocketsOfAServerMayStopListening) {
  FakeJavaScript js;
  ASSERT_EQ(js.backend().Configure(1, {}), 0);
  const Bound first = Bind();
  const Bound second = Bind();
  const int key = js.backend().Listen(1, Descriptor(first.fd), 64, GetParam());
  ASSERT_GT(key, 0);
  ASSERT_GT(js.backend().Listen(1, Descriptor(second.fd), 64, GetParam()), 0);
  const Peer early(TryConnect(first.port));
  js.Expect(RequestType::kOpen);
  js.backend().StopListening(key);
  close(first.fd);
  EXPECT_EQ(TryConnect(first.port), -1);
  const Peer late(TryConnect(second.port));
  js.Expect(RequestType::kOpen);
  early.Send(kGet);
  js.Answer(js.Expect(RequestType::kRequest).slot, "x");
  EXPECT_NE(early.Read(39).find("200 OK"), std::string::npos);
  js.backend().StopListening(key);  // Nothing has this key any more.
  close(second.fd);
}

TEST_P(AcceptingTest, OutOfDescriptorsNewConnectionsWaitInTheBacklog) {
  FakeJavaScript js;
  ASSERT_EQ(js.backend().Configure(1, {}), 0);
  const Bound bound = Bind();
  ASSERT_GT(js.backend().Listen(1, Descriptor(bound.fd), 64, GetParam()), 0);
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  std::vector<int> fill;
  for (int fd = 0; fd != -1 && fill.size() < 4096;) {
    const rlimit now{std::min<rlim_t>(before.rlim_max, 512), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
    fd = dup(client);
    if (fd != -1) fill.push_back(fd);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(bound.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const Peer waiting(client);
  pollfd ended{client, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 50), 0);  // The acceptor has looked at it several times.
  for (const int fd : fill) close(fd);
  setrlimit(RLIMIT_NOFILE, &before);
  js.Expect(RequestType::kOpen);
  waiting.Send(kGet);
  js.Answer(js.Expect(RequestType::kRequest).slot, "x");
  EXPECT_NE(waiting.Read(39).find("200 OK"), std::string::npos);
  close(bound.fd);
}

TEST(EngineTest, ResetTearsTheConnectionDown) {
  FakeJavaScript js;
  ASSERT_EQ(js.backend().Configure(1, {}), 0);
  const Bound bound = Bind();
  ASSERT_GT(js.backend().Listen(1, Descriptor(bound.fd), 64, false), 0);
  const Peer peer(TryConnect(bound.port));
  const uint32_t slot = js.Expect(RequestType::kOpen).slot;
  js.Command(ReplyType::kReset, slot);
  js.Expect(RequestType::kClosed);
  EXPECT_EQ(peer.ReadAll(), "[Connection reset by peer]");
  close(bound.fd);
}

TEST(EngineTest, AServerWithABadPrefixIsRefused) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.prefixes = test::WholePrefixes({"http://shop.test/"});
  EXPECT_EQ(js.backend().Configure(1, settings), -EINVAL);
}

TEST(EngineTest, CloseEndsEverythingAndLeavesNoDescriptor) {
  const int before = OpenDescriptors();
  {
    FakeJavaScript js({.lanes = 2});
    const Peer idle(js.Connect());
    const Peer busy(js.ConnectAgain());
    busy.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    const Peer half(js.ConnectAgain());
    half.Send("GET /");
    const Bound bound = Bind();
    ASSERT_GT(js.backend().Listen(1, Descriptor(bound.fd), 64, false), 0);
    close(bound.fd);
    for (int i = 0; i < 3; ++i) js.Next();
    js.backend().Close();
    js.backend().Close();
    EXPECT_EQ(idle.ReadAll(), "");
    EXPECT_TRUE(js.backend().Drain(0, DrainGoal::kSent));
    EXPECT_EQ(js.backend().Adopt(1, Descriptor(0)), -EBADF);
    EXPECT_EQ(js.backend().Listen(1, Descriptor(0), 1, false), -EBADF);
    js.backend().Wake(0);
    js.backend().Unlisten(1);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(EngineTest, CloseDuringTrafficIsClean) {
  for (int round = 0; round < 20; ++round) {
    FakeJavaScript js({.lanes = 2});
    std::vector<Peer> peers;
    peers.emplace_back(js.Connect());
    for (int i = 0; i < 10; ++i) peers.emplace_back(js.ConnectAgain());
    for (const Peer& peer : peers) peer.Send(kGet);
    for (int i = 0; i < round; ++i) {
      const auto event = js.Next(100);
      if (!event.has_value() || event->type != RequestType::kRequest) continue;
      js.set_lane(event->lane);
      js.Answer(event->slot, "x");
    }
  }
}

}  // namespace
}  // namespace httpsys::test
