#pragma once
// The registrations that this engine has been granted on one port.

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "peer/messages.h"

namespace httpsys::sharing {

// Granted registrations, by server and in order of arrival. A server may listen without any prefix.
// A server that adds its prefixes one by one has thousands of registrations; Forget() and
// FindOfPrefix() look at only one for each prefix.
class OwnRegistrations {
 public:
  bool empty() const { return servers_.empty(); }
  size_t server_count() const { return servers_.size(); }
  bool HasServer(uint32_t server_id) const { return servers_.contains(server_id); }
  // Returns the server with the lowest id. Must be called only if there is one.
  uint32_t first_server() const { return servers_.begin()->first; }
  // True if a server listens without any prefix.
  bool HasIdle() const { return idle_count_ != 0; }
  // Returns the registration of a prefix, or nullptr.
  peer::Register* FindOfPrefix(uint32_t server_id, uint32_t prefix_id);
  template <typename Use>
  void ForEach(const Use& use) {
    for (auto& [server_id, server] : servers_) {
      for (auto& [number, registered] : server.list) use(registered);
    }
  }
  template <typename Use>
  void ForEach(const Use& use) const {
    for (const auto& [server_id, server] : servers_) {
      for (const auto& [number, registered] : server.list) use(registered);
    }
  }
  template <typename Use>
  void ForEachServer(const Use& use) const {
    for (const auto& [server_id, server] : servers_) use(server_id);
  }
  template <typename Use>
  void ForEachOf(uint32_t server_id, const Use& use) {
    const auto found = servers_.find(server_id);
    if (found == servers_.end()) return;
    for (auto& [number, registered] : found->second.list) use(registered);
  }

  void Add(peer::Register registered);
  // Removes unregistered prefixes, and the server if it has none left and `stays` is false.
  void Forget(const peer::Unregister& gone, bool stays);

 private:
  struct Server {
    std::map<uint64_t, peer::Register> list;
    std::unordered_map<uint32_t, uint64_t> by_prefix;  // Prefix ids to keys of `list`.
  };

  static void ForgetPrefix(Server* server, uint32_t prefix_id);

  std::map<uint32_t, Server> servers_;
  uint64_t last_number_ = 0;
  size_t idle_count_ = 0;
};

}  // namespace httpsys::sharing
