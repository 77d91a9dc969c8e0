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
  // A group of connections with one count: the connections of a client, or those for a prefix.
  struct Group {
    bool is_client = false;
    std::array<uint8_t, 16> client{};  // The client's address, of IPv6 the first 64 bits.
    uint32_t prefix_id = 0;            // Valid if is_client is false.

    auto operator<=>(const Group&) const = default;
  };

  // Counts a connection. If the group has `most` connections, counts nothing and returns false.
  // `relayed` names a client's connection whose requests another member relays: all calls with the
  // same name count as one connection. Empty = the client is connected to this process.
  bool Add(const Group& group, const std::string& relayed, uint32_t most);
  // Undoes one Add().
  void Remove(const Group& group, const std::string& relayed);
  bool IsFull(const Group& group, uint32_t most);

 private:
  struct Count {
    uint32_t connections = 0;
    // How many times each name of a relayed connection was added.
    std::map<std::string, uint32_t> relayed;
  };

  std::mutex mutex_;
  std::map<Group, Count> counts_;
};

}  // namespace httpsys::engine
