#include "records/addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <uv.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace httpsys::engine {
namespace {

// Prefix of IPv6 addresses that stand for IPv4 addresses.
constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::string_view kMappedText = "::ffff:";

// Appends an IPv4 address as text. Written by hand because nearly all clients have one, and
// uv_inet_ntop() formats byte by byte with snprintf().
void SetIpv4Text(std::string_view before, std::span<const uint8_t, 4> address, std::string* text) {
  char name[kMappedText.size() + INET_ADDRSTRLEN];
  char* end = name + before.copy(name, before.size());
  for (const uint8_t byte : address) {
    end = std::to_chars(end, name + sizeof name, byte).ptr;
    *end++ = '.';
  }
  text->assign(name, end - 1);
}

// Writes the text and the port of one end. Returns the family, or 0.
uint8_t Describe(const sockaddr_storage& address, std::string* text, uint16_t* port) {
  std::array<uint8_t, 4> bytes;
  if (address.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    SetIpv4Text("", bytes, text);
    *port = ntohs(v4.sin_port);
    return 4;
  }
  if (address.ss_family != AF_INET6) return 0;
  sockaddr_in6 v6;
  std::memcpy(&v6, &address, sizeof v6);
  *port = ntohs(v6.sin6_port);
  if (std::memcmp(&v6.sin6_addr, kMapped.data(), kMapped.size()) == 0) {
    std::memcpy(bytes.data(), v6.sin6_addr.s6_addr + kMapped.size(), bytes.size());
    SetIpv4Text(kMappedText, bytes, text);
    return 6;
  }
  char name[INET6_ADDRSTRLEN] = "";
  uv_inet_ntop(AF_INET6, &v6.sin6_addr, name, sizeof name);
  *text = name;
  if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) && v6.sin6_scope_id > 0) {
    char scope[UV_IF_NAMESIZE] = "";
    size_t size = sizeof scope;
    if (uv_if_indextoiid(v6.sin6_scope_id, scope, &size) == 0) text->append("%").append(scope);
  }
  return 6;
}

void FillLocalIp(const sockaddr_storage& address, LocalAddress* local) {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    std::memcpy(local->ip.data(), kMapped.data(), kMapped.size());
    std::memcpy(local->ip.data() + kMapped.size(), &v4.sin_addr, sizeof v4.sin_addr);
    local->is_ip = true;
  } else if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(local->ip.data(), &v6.sin6_addr, local->ip.size());
    local->is_ip = true;
  }
}

}  // namespace

Addresses DescribeConnection(int fd, const sockaddr_storage* peer) {
  Addresses result;
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    result.family = Describe(address, &result.local, &result.local_port);
    FillLocalIp(address, &result.local_ip);
  }
  if (peer == nullptr) {
    size = sizeof address;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return result;
    peer = &address;
  }
  Describe(*peer, &result.remote, &result.remote_port);
  return result;
}

uint16_t LocalPort(int fd, LocalAddress* local) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  FillLocalIp(address, local);
  in_port_t port = 0;
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  if (local->is_ip) {
    std::memcpy(&port, reinterpret_cast<char*>(&address) + offsetof(sockaddr_in, sin_port),
                sizeof port);
  }
  return ntohs(port);
}

}  // namespace httpsys::engine
