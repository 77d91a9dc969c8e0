#pragma once
// The two ends of a connection, as text exactly like Node's remoteAddress and localAddress.

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

// Describes a connection. `peer` is the address that accept() returned, or nullptr to ask the
// socket. What cannot be found out (the connection is already reset) stays empty. Thread: any.
Addresses DescribeConnection(int fd, const sockaddr_storage* peer);
// Returns the port of this end, or 0, and sets its address.
uint16_t LocalPort(int fd, LocalAddress* local);

}  // namespace httpsys::engine
