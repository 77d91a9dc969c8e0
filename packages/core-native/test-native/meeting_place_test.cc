// Names of members, who has them, and what is known of the other end; sockets that members share.

#include "sharing/meeting_place.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>

#include "sharing/listening_socket.h"
#include "support/descriptors.h"

namespace httpsys::sharing {
namespace {

std::string OwnName() { return MemberName(RandomId()); }

TEST(MeetingPlaceTest, NamesSayTheUserAndThePort) {
  EXPECT_NE(PortName(8080).find(std::to_string(geteuid()) + "/8080"), std::string::npos);
  EXPECT_NE(PortName(8080), PortName(8081));
  EXPECT_NE(MemberName(0x1f).find("000000000000001f"), std::string::npos);
}

TEST(MeetingPlaceTest, MembersHaveDifferentIds) {
  std::set<uint64_t> ids;
  for (int i = 0; i < 100; ++i) ids.insert(RandomId());
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_FALSE(ids.contains(0));
}

TEST(MeetingPlaceTest, ANameHasOneOwnerUntilThatCloses) {
  const int before = test::OpenDescriptors();
  const std::string name = OwnName();
  EXPECT_EQ(ConnectTo(name), -ECONNREFUSED);
  NamedSocket first;
  ASSERT_EQ(ListenUnder(name, &first), 0);
  NamedSocket second;
  EXPECT_EQ(ListenUnder(name, &second), -EADDRINUSE);
  EXPECT_EQ(second.fd, -1);
  const int visitor = ConnectTo(name);
  ASSERT_GE(visitor, 0);
  close(visitor);
  close(first.fd);
  EXPECT_EQ(ConnectTo(name), -ECONNREFUSED);
  ASSERT_EQ(ListenUnder(name, &second), 0);
  close(second.fd);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST(MeetingPlaceTest, ANameThatIsTooLongIsRefused) {
  const int before = test::OpenDescriptors();
  NamedSocket socket;
  EXPECT_EQ(ListenUnder(std::string(200, 'x'), &socket), -ENAMETOOLONG);
  EXPECT_EQ(ConnectTo(std::string(200, 'x')), -ENAMETOOLONG);
  EXPECT_EQ(test::OpenDescriptors(), before);
}

TEST(MeetingPlaceTest, BothEndsKnowWhoTheOtherIs) {
  NamedSocket socket;
  const std::string name = OwnName();
  ASSERT_EQ(ListenUnder(name, &socket), 0);
  const int visitor = ConnectTo(name);
  ASSERT_GE(visitor, 0);
  pollfd watched{socket.fd, POLLIN, 0};
  ASSERT_EQ(poll(&watched, 1, 5000), 1);
  const int accepted = accept(socket.fd, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  for (const int fd : {visitor, accepted}) {
    Credentials credentials;
    ASSERT_TRUE(ReadCredentials(fd, &credentials));
    EXPECT_EQ(credentials.uid, geteuid());
    EXPECT_EQ(credentials.pid, static_cast<uint32_t>(getpid()));
  }
  for (const int fd : {visitor, accepted, socket.fd}) close(fd);
  Credentials credentials;
  EXPECT_FALSE(ReadCredentials(-1, &credentials));
}

// -- Listening sockets.

struct Bound {
  int fd = -1;
  uint16_t port = 0;
};

Bound Bind(bool listens) {
  Bound bound;
  bound.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(bound.fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  getsockname(bound.fd, reinterpret_cast<sockaddr*>(&address), &size);
  bound.port = ntohs(address.sin_port);
  if (listens) {
    EXPECT_EQ(listen(bound.fd, 8), 0);
  }
  return bound;
}

TEST(ListeningSocketTest, OnlyASocketThatListensOnThePortIsOne) {
  const Bound listening = Bind(true);
  const Bound silent = Bind(false);
  EXPECT_TRUE(IsListeningOn(listening.fd, listening.port));
  EXPECT_FALSE(IsListeningOn(listening.fd, static_cast<uint16_t>(listening.port + 1)));
  EXPECT_FALSE(IsListeningOn(silent.fd, silent.port));
  EXPECT_FALSE(IsListeningOn(0, 80));
  EXPECT_FALSE(IsListeningOn(-1, 80));
  NamedSocket named;
  ASSERT_EQ(ListenUnder(OwnName(), &named), 0);
  EXPECT_FALSE(IsListeningOn(named.fd, 80));
  EXPECT_EQ(BoundAddress(listening.fd), "127.0.0.1");
  EXPECT_EQ(BoundAddress(named.fd), "");
  for (const int fd : {listening.fd, silent.fd, named.fd}) close(fd);
}

TEST(ListeningSocketTest, AWildcardListensBesideANarrowerAddressAndNobodyElseDoes) {
  const Bound narrow = Bind(true);
  const int wide = ListenBeside(narrow.port, 8, {narrow.fd});
  ASSERT_GE(wide, 0);
  EXPECT_EQ(BoundAddress(wide), "[::]");
  // Another program, as it is written usually.
  const int other = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(narrow.port);
  EXPECT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  close(other);
  close(wide);
  close(narrow.fd);
}

}  // namespace
}  // namespace httpsys::sharing
