#pragma once
// The addresses of both ends of a connection, as the same text as Node's remoteAddress and
// localAddress.

#include <cstdint>
#include <string>

#include "url/url_prefix_table.h"

struct sockaddr_storage;

namespace httpsys::engine {

struct Addresses {
  uint8_t family = 0;  // 4, 6, or 0 for a Unix socket, which has neither addresses nor ports.
  uint16_t remote_port = 0;
  uint16_t local_port = 0;
  std::string remote;
  std::string local;
  LocalAddress local_ip;
};

// Describes a connection. `peer` is the client's address that accept() returned, or nullptr to ask
// the socket. Fields that cannot be determined, because the connection is already reset, stay
// empty. Thread: any.
Addresses DescribeConnection(int fd, const sockaddr_storage* peer);
// Returns the port of the local end, or 0, and sets its address.
uint16_t LocalPort(int fd, LocalAddress* local);

}  // namespace httpsys::engine
