// Two engines on one TCP port: each request reaches the one that has its prefix, whoever accepted
// the connection.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "sharing/meeting_place.h"
#include "support/descriptors.h"
#include "support/fake_javascript.h"
#include "support/member.h"
#include "support/peer_links_fixture.h"
#include "support/whole_prefixes.h"

namespace httpsys::test {
namespace {

constexpr int kStepMs = 2;

std::string Get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

std::string Reply(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class SharedPortTest : public testing::Test {
 protected:
  // Engine `index` registers these on the port; the first one listens there.
  void Join(FakeJavaScript& js, const std::vector<std::string>& paths, const char* queue = "",
            ServerSettings settings = {}) {
    Registration wanted;
    wanted.token = 1;
    wanted.server_id = 1;
    wanted.port = port_;
    wanted.queue = queue;
    wanted.queue_mode = QueueMode::kCreateOrAttach;
    uint32_t id = 0;
    for (const std::string& path : paths) {
      const std::string prefix = "http://*:" + std::to_string(port_) + path;
      wanted.prefixes.push_back({id++, prefix});
    }
    settings.prefixes = {.is_everything = false, .changes = wanted.prefixes};
    ASSERT_EQ(js.backend().Configure(1, settings), 0);
    Stranger stranger;
    if (js.backend().Meet(port_, &stranger) == static_cast<int>(Meeting::kOurs)) {
      ASSERT_GT(js.backend().Listen(1, Descriptor(holder_.fd()), 64, false), 0);
      ASSERT_EQ(js.backend().Contribute(port_, 1, Descriptor(holder_.fd()), true), 0);
    }
    RegistrationResult result;
    if (!js.backend().Register(wanted, &result)) result = js.ExpectResult();
    ASSERT_EQ(result.token, 1u);
    ASSERT_EQ(result.error, 0);
    for (const int fd : result.sockets) close(fd);
  }
  sockaddr_in AddressOf(uint32_t ip) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(ip);
    return address;
  }
  Peer Connect(uint32_t ip = INADDR_LOOPBACK) const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = AddressOf(ip);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return Peer(fd);
  }
  // Both answer what comes with "<name> <target>", until so many requests have been answered.
  void Serve(size_t requests) {
    for (int i = 0; i < 5000 / kStepMs && requests > 0; ++i) {
      requests -= std::min(requests, ServeSome(alice_, "alice") + ServeSome(bob_, "bob"));
    }
    EXPECT_EQ(requests, 0u) << "requests that did not come";
  }
  static size_t ServeSome(FakeJavaScript& js, const std::string& name) {
    size_t count = 0;
    while (const std::optional<Event> event = js.Next(kStepMs)) {
      if (event->type != RequestType::kRequest) continue;
      js.Answer(event->slot, name + ' ' + event->target);
      ++count;
    }
    return count;
  }
  void Expect(const Peer& client, const std::string& body) {
    const std::string reply = Reply(body);
    EXPECT_EQ(client.Read(reply.size()), reply);
  }

  // Alice has a cache.
  void JoinWithCache() {
    ServerSettings settings;
    settings.cache.rules = 2;
    alice_.backend().cache().SetBytes(size_t{16} << 20, 0);
    Join(alice_, {"/a/"}, "", settings);
    Join(bob_, {"/b/"});
  }
  // Asks for a target of Alice's, and has her answer stored.
  void Store(const Peer& client, const std::string& target) {
    client.Send(Get(target));
    std::optional<Event> event;
    do {
      event = alice_.Next();
      ASSERT_TRUE(event.has_value());
    } while (event->type != RequestType::kRequest);
    const std::string body = "alice " + target;
    alice_.Respond(event->slot, records::kReplyEnd,
                   "HTTP/1.1 200 OK\r\nCache-Control: public, max-age=600\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n",
                   body);
    EXPECT_EQ(ReadBody(client), body);
  }
  // The body of the next answer.
  static std::string ReadBody(const Peer& client) {
    constexpr std::string_view kLength = "Content-Length: ";
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
      const std::string byte = client.Read(1);
      if (byte.empty()) return head + "[timeout]";
      head += byte;
    }
    const size_t at = head.find(kLength);
    if (at == std::string::npos) return head;
    return client.Read(std::stoul(head.substr(at + kLength.size())));
  }

  PortHolder holder_;
  const uint16_t port_ = holder_.port();
  FakeJavaScript alice_;
  FakeJavaScript bob_;
};

TEST_F(SharedPortTest, EachRequestReachesTheOwnerOfItsPrefix) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  // Whoever accepts: after so many, both have.
  for (int i = 0; i < 20; ++i) {
    const Peer to_alice = Connect();
    const Peer to_bob = Connect();
    to_alice.Send(Get("/a/" + std::to_string(i)));
    to_bob.Send(Get("/b/" + std::to_string(i)));
    Serve(2);
    Expect(to_alice, "alice /a/" + std::to_string(i));
    Expect(to_bob, "bob /b/" + std::to_string(i));
  }
}

// Most are accepted when their first bytes are there already.
TEST_F(SharedPortTest, WhateverComesFirstReachesItsOwnerWhenManyConnectAtOnce) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  const std::string post = "POST /b/post HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {Get("/a/1"), "alice /a/1"},
      {Get("/b/1"), "bob /b/1"},
      {"\r\n" + Get("/b/2"), "bob /b/2"},
      {post, "bob /b/post"},
      {Get("/c/"), ""},
      {"GET /b/ HTTP/1.1\r\nHost: a\r\nbad line\r\n\r\n", ""},
      {Get("/b/3") + Get("/a/3"), "bob /b/3"},
  };
  std::vector<Peer> clients;
  for (int round = 0; round < 8; ++round) {
    for (const auto& [bytes, body] : kinds) {
      clients.push_back(Connect());
      clients.back().Send(bytes);
      // Half-closed, it is answered all the same.
      if (round % 2 != 0) shutdown(clients.back().fd(), SHUT_WR);
    }
  }
  Serve(6 * 8);
  for (size_t i = 0; i < clients.size(); ++i) {
    const std::string& body = kinds[i % kinds.size()].second;
    if (!body.empty()) Expect(clients[i], body);
    if (i % kinds.size() == 4) {
      EXPECT_TRUE(clients[i].Read(12) == "HTTP/1.1 404");
    }
    if (i % kinds.size() == 5) {
      EXPECT_TRUE(clients[i].Read(12) == "HTTP/1.1 400");
    }
    if (i % kinds.size() == 6) Expect(clients[i], "alice /a/3");
  }
}

TEST_F(SharedPortTest, AConnectionMovesFromRequestToRequest) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  const Peer client = Connect();
  for (int i = 0; i < 10; ++i) {
    client.Send(Get("/a/" + std::to_string(i)));
    Serve(1);
    Expect(client, "alice /a/" + std::to_string(i));
    client.Send(Get("/b/" + std::to_string(i)));
    Serve(1);
    Expect(client, "bob /b/" + std::to_string(i));
  }
}

TEST_F(SharedPortTest, PipelinedRequestsOfBothAreAnsweredInOrder) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  const Peer client = Connect();
  std::string requests;
  for (int i = 0; i < 5; ++i) {
    requests += Get("/a/" + std::to_string(i)) + Get("/b/" + std::to_string(i)) +
                Get("/b/again" + std::to_string(i));
  }
  client.Send(requests);
  Serve(15);
  for (int i = 0; i < 5; ++i) {
    Expect(client, "alice /a/" + std::to_string(i));
    Expect(client, "bob /b/" + std::to_string(i));
    Expect(client, "bob /b/again" + std::to_string(i));
  }
}

#ifdef __linux__

// The kernel's struct tcp_info, of which the C library declares the first part only.
struct WholeTcpInfo {
  tcp_info first;
  uint64_t pacing_rates[2];
  uint64_t bytes_acked;
  uint64_t bytes_received;
  uint32_t segments_out;
  uint32_t segments_in;
  uint32_t unsent_bytes;
  uint32_t min_rtt;
  uint32_t data_segments_in;
  uint32_t data_segments_out;
};
static_assert(offsetof(WholeTcpInfo, data_segments_in) == 152);

// How many segments with data have come. Each write of the lane fills one, however busy the machine
// is: the loopback device takes segments of 64 KiB, and nothing waits for more.
uint32_t SegmentsOf(const Peer& client) {
  WholeTcpInfo info{};
  socklen_t size = sizeof info;
  EXPECT_EQ(getsockopt(client.fd(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  EXPECT_GE(size, offsetof(WholeTcpInfo, data_segments_out));
  return info.data_segments_in;
}

TEST_F(SharedPortTest, PipelinedAnswersOfTheCacheLeaveInOneWrite) {
  constexpr size_t kRequests = 16;
  JoinWithCache();
  const Peer client = Connect();
  Store(client, "/a/x");
  const uint32_t before = SegmentsOf(client);
  std::string requests;
  for (size_t i = 0; i < kRequests; ++i) requests += Get("/a/x");
  client.Send(requests);
  for (size_t i = 0; i < kRequests; ++i) EXPECT_EQ(ReadBody(client), "alice /a/x");
  EXPECT_EQ(SegmentsOf(client) - before, 1u);
}

#endif

TEST_F(SharedPortTest, AnswersOfTheCacheKeepTheirPlacesInAMixedPipeline) {
  JoinWithCache();
  const Peer client = Connect();
  Store(client, "/a/hit");
  // The last request moves the connection; those for /b/ before it are relayed.
  const std::vector<std::string> targets = {"/a/hit", "/a/hit", "/b/1",   "/a/hit", "/a/2",
                                            "/a/hit", "/c/",    "/a/hit", "/b/3",   "/b/4",
                                            "/a/hit", "/a/hit", "/b/5"};
  std::string requests;
  for (const std::string& target : targets) requests += Get(target);
  client.Send(requests);
  Serve(5);
  for (const std::string& target : targets) {
    const std::string body = ReadBody(client);
    if (target == "/c/") {
      EXPECT_NE(body.find("Not Found"), std::string::npos) << body;
    } else {
      EXPECT_EQ(body, (target.starts_with("/a/") ? "alice " : "bob ") + target);
    }
  }
}

TEST_F(SharedPortTest, ARequestThatArrivesInPiecesMovesWithAllOfThem) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  const Peer client = Connect();
  const std::string request =
      "POST /b/x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabcdef" + Get("/b/next");
  for (const char c : request) client.Send({&c, 1});
  std::string body;
  uint32_t slot = 0;
  while (body.size() < 6) {
    const std::optional<Event> event = bob_.Next();
    ASSERT_TRUE(event.has_value());
    if (event->type == RequestType::kRequest) slot = event->slot;
    body += event->body;
  }
  EXPECT_EQ(body, "abcdef");
  bob_.Answer(slot, "first");
  Expect(client, "first");
  Serve(1);
  Expect(client, "bob /b/next");
}

TEST_F(SharedPortTest, WhatNobodyRegisteredIsRefusedAndTheConnectionGoesOn) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  const Peer client = Connect();
  client.Send(Get("/c/"));
  EXPECT_EQ(client.Read(12), "HTTP/1.1 404");
}

TEST_F(SharedPortTest, WhenItsOwnerGoesAPrefixIsRefusedAndTheOtherIsServed) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  bob_.backend().Close();
  for (int i = 0; i < 10; ++i) {
    const Peer client = Connect();
    client.Send(Get("/a/"));
    Serve(1);
    Expect(client, "alice /a/");
    const Peer other = Connect();
    other.Send(Get("/b/"));
    const std::string status = other.Read(12);
    EXPECT_TRUE(status == "HTTP/1.1 404" || status == "HTTP/1.1 503") << status;
  }
}

TEST_F(SharedPortTest, RequestsWaitForARestartedOwner) {
  Join(alice_, {"/a/"});
  Join(bob_, {"/b/"});
  bob_.backend().Unlisten(1);
  bob_.backend().Unregister(port_, 1, {}, 60'000, 0, false);
  FakeJavaScript carol;
  std::vector<Peer> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(Connect());
    clients.back().Send(Get("/b/" + std::to_string(i)));
  }
  EXPECT_TRUE(clients[0].IsQuiet());
  Join(carol, {"/b/"});
  size_t served = 0;
  for (int i = 0; i < 2500 && served < 5; ++i) served += ServeSome(carol, "carol");
  for (int i = 0; i < 5; ++i) Expect(clients[i], "carol /b/" + std::to_string(i));
}

// Another owner of the queue is free, but these connections have moved too often.
TEST_F(SharedPortTest, AParkedRequestThatMayNotMoveIsNotOvertaken) {
  FakeJavaScript blocked({.queue_bytes_max = 1});
  Join(blocked, {"/q/", "/own/"}, "q");
  Member free;
  const std::string prefix = "http://*:" + std::to_string(port_) + "/q/";
  ASSERT_EQ(free.Register(port_, 1, {prefix}, 0, "q", QueueMode::kAttach).error, 0);
  const uint64_t receiver = free.Routes(port_)->peers().at(0);

  // An address at which the blocked one does not accept.
  constexpr uint32_t kAddress = INADDR_LOOPBACK + 1;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = AddressOf(kAddress);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 64), 0);
  uv_loop_t loop;
  uv_loop_init(&loop);
  LanePatience patience;
  Owner asked;
  PeerLinks links(&loop, sharing::RandomId(), &patience, &asked, &asked);
  const std::vector<std::string> targets = {"/q/begun", "/q/parked", "/own/parked"};
  std::vector<Peer> clients;
  for (const std::string& target : targets) {
    clients.push_back(Connect(kAddress));
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    ASSERT_EQ(links.Prepare(receiver), PeerLinks::State::kReady);
    links.HandOver(receiver, {fd, port_, limits::kBlockedHopsMax + 1, 0, Get(target)});
  }
  links.Flush();
  while (links.HasUnacknowledged()) uv_run(&loop, UV_RUN_ONCE);
  links.Close();
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_EQ(uv_loop_close(&loop), 0);
  close(listener);

  // So long that the lane looks many times who else could have them.
  usleep(100'000);
  std::vector<std::string> begun;
  while (begun.size() < targets.size()) {
    const std::optional<Event> event = blocked.Next();
    ASSERT_TRUE(event.has_value());
    if (event->type == RequestType::kRequest) begun.push_back(event->target);
  }
  EXPECT_EQ(begun, targets);
}

TEST_F(SharedPortTest, ClosingWhileConnectionsMoveLeavesNoDescriptor) {
  const int before = OpenDescriptors();
  for (int round = 0; round < 8; ++round) {
    PortHolder holder;
    const uint16_t port = holder.port();
    auto one = std::make_unique<FakeJavaScript>(FakeJavaScript::Options{.lanes = 2});
    auto two = std::make_unique<FakeJavaScript>(FakeJavaScript::Options{.lanes = 2});
    uint32_t server = 0;
    for (FakeJavaScript* js : {one.get(), two.get()}) {
      ServerSettings settings;
      const std::string prefix =
          "http://*:" + std::to_string(port) + (server++ == 0 ? "/a/" : "/b/");
      settings.prefixes = test::WholePrefixes({prefix});
      ASSERT_EQ(js->backend().Configure(1, settings), 0);
      Stranger stranger;
      if (js->backend().Meet(port, &stranger) == static_cast<int>(Meeting::kOurs)) {
        ASSERT_GT(js->backend().Listen(1, Descriptor(holder.fd()), 64, false), 0);
        ASSERT_EQ(js->backend().Contribute(port, 1, Descriptor(holder.fd()), true), 0);
      }
      Registration wanted;
      wanted.token = 1;
      wanted.server_id = 1;
      wanted.port = port;
      wanted.prefixes.push_back({0, prefix});
      RegistrationResult result;
      if (!js->backend().Register(wanted, &result)) result = js->ExpectResult();
      ASSERT_EQ(result.token, 1u);
      for (const int fd : result.sockets) close(fd);
    }
    std::vector<Peer> clients;
    for (int i = 0; i < 40; ++i) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      clients.emplace_back(fd);
      clients.back().Send(Get(i % 2 == 0 ? "/a/" : "/b/"));
    }
    if (round % 2 == 0) one.reset();
    two.reset();
    one.reset();
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace httpsys::test
