#include "records/addresses.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cstring>
#include <string>

namespace httpsys::engine {
namespace {

std::string TextOf(int family, const char* written, uint16_t port = 0) {
  sockaddr_storage peer{};
  peer.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    EXPECT_EQ(uv_inet_pton(AF_INET, written, &v4.sin_addr), 0) << written;
    std::memcpy(&peer, &v4, sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    EXPECT_EQ(uv_inet_pton(AF_INET6, written, &v6.sin6_addr), 0) << written;
    std::memcpy(&peer, &v6, sizeof v6);
  }
  // There is no socket, so nothing is known of the local end.
  const Addresses addresses = DescribeConnection(-1, &peer);
  EXPECT_EQ(addresses.remote_port, port);
  EXPECT_EQ(addresses.local, "");
  return addresses.remote;
}

TEST(AddressesTest, TextIsThatOfNode) {
  for (const char* text : {"127.0.0.1", "0.0.0.0", "255.255.255.255", "10.0.200.7", "1.22.133.4"}) {
    EXPECT_EQ(TextOf(AF_INET, text, 443), text);
    const std::string mapped = std::string("::ffff:") + text;
    EXPECT_EQ(TextOf(AF_INET6, mapped.c_str(), 65535), mapped);
  }
  for (const char* text : {"::1", "::", "2001:db8::7", "::fffe:7f00:1", "1::ffff:7f00:1",
                           "2001:db8:1:2:3:4:5:6", "64:ff9b::c000:221"}) {
    EXPECT_EQ(TextOf(AF_INET6, text, 80), text);
  }
}

TEST(AddressesTest, ASocketTellsBothItsEnds) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&name), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);

  const Addresses addresses = DescribeConnection(client, nullptr);
  EXPECT_EQ(addresses.family, 4);
  EXPECT_EQ(addresses.remote, "127.0.0.1");
  EXPECT_EQ(addresses.remote_port, ntohs(name.sin_port));
  EXPECT_EQ(addresses.local, "127.0.0.1");
  LocalAddress local;
  EXPECT_EQ(LocalPort(client, &local), addresses.local_port);
  EXPECT_TRUE(local.is_ip);
  EXPECT_EQ(local.ip[10], 0xff);
  EXPECT_EQ(local.ip[15], 1);
  close(client);
  close(listener);
}

}  // namespace
}  // namespace httpsys::engine
