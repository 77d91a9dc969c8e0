// Unix sockets: their flags, however the system sets them, and who is at the other end.

#include "base/unix_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace httpsys {
namespace {

struct Way {
  const char* name;
  int (*open)();
  bool (*open_pair)(int* ends);
};

class UnixSocketsTest : public testing::TestWithParam<Way> {};

void ExpectFlags(int fd) {
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

TEST_P(UnixSocketsTest, ASocketDoesNotBlockAndEndsWithTheProgram) {
  const int fd = GetParam().open();
  ASSERT_GE(fd, 0);
  ExpectFlags(fd);
  close(fd);
}

TEST_P(UnixSocketsTest, APairIsConnected) {
  int ends[2];
  ASSERT_TRUE(GetParam().open_pair(ends));
  for (const int end : ends) ExpectFlags(end);
  char byte = 'a';
  EXPECT_EQ(recv(ends[1], &byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(send(ends[0], "b", 1, 0), 1);
  EXPECT_EQ(recv(ends[1], &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'b');
  for (const int end : ends) {
    uint32_t uid = 1;
    uint32_t pid = 1;
    EXPECT_TRUE(ReadUnixPeer(end, &uid, &pid));
    EXPECT_EQ(uid, geteuid());
    EXPECT_TRUE(pid == static_cast<uint32_t>(getpid()) || pid == 0);
    close(end);
  }
}

TEST(UnixPeerTest, NobodyIsAtTheOtherEndOfNoSocket) {
  uint32_t uid = 0;
  uint32_t pid = 0;
  EXPECT_FALSE(ReadUnixPeer(-1, &uid, &pid));
}

INSTANTIATE_TEST_SUITE_P(Ways, UnixSocketsTest,
                         testing::Values(Way{"System", OpenUnixSocket, OpenUnixPair},
                                         Way{"Portable", portable::OpenUnixSocket,
                                             portable::OpenUnixPair}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace httpsys
