#pragma once
// Counts the connections of a server by client and by URL prefix.

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace httpsys::engine {

// The counts of one server, for all lanes. Thread: any.
class ConnectionCounts {
 public:
  // Connections that are counted together: those of a client, or those for a prefix.
  struct Group {
    bool is_client = false;
    std::array<uint8_t, 16> client{};  // The client's address, of IPv6 the first 64 bits.
    uint32_t prefix_id = 0;            // Valid if it is no client.

    auto operator<=>(const Group&) const = default;
  };

  // Counts a connection. Returns false, and counts nothing, if the group has `most`. `relayed`
  // names the client's connection if another member has it and relays its requests: whatever has
  // the same name is one connection. Empty = the connection is here.
  bool Add(const Group& group, const std::string& relayed, uint32_t most);
  // Takes one Add() back.
  void Remove(const Group& group, const std::string& relayed);
  bool IsFull(const Group& group, uint32_t most);

 private:
  struct Count {
    uint32_t connections = 0;
    std::map<std::string, uint32_t> relayed;  // How often each name was added.
  };

  std::mutex mutex_;
  std::map<Group, Count> counts_;
};

}  // namespace httpsys::engine
