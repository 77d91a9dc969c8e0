// How much a socket takes at once.

#include "engine/connection/connected_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace httpsys::engine {
namespace {

constexpr size_t kBytes = 64 * 1024;

TEST(SocketRoom, KnowsASocketThatIsFull) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener, generic, size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, generic, &size), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, generic, size), 0);
  const int server = accept(listener, nullptr, nullptr);
  ASSERT_GE(server, 0);
  EXPECT_TRUE(MayTake(server, 1024));
  const std::string bytes(kBytes, 'x');
  while (send(server, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
#ifdef __linux__
  EXPECT_FALSE(MayTake(server, kBytes));
#endif
  close(client);
  close(server);
  close(listener);
  // Nothing is known of it.
  EXPECT_TRUE(MayTake(-1, kBytes));
}

}  // namespace
}  // namespace httpsys::engine
