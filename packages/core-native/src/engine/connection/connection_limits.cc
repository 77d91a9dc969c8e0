#include "engine/connection/connection_limits.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/limits.h"
#include "engine/connection/protocol_states.h"
#include "url/url_prefix.h"

namespace httpsys::engine {
namespace {

// Connections of IPv6 clients are counted by the first 8 bytes of the address: a household, or a
// machine, usually has a /64 network.
constexpr size_t kNetworkBytes = 8;

void KeepNetwork(std::array<uint8_t, 16>* ip) {
  if (!IsIpv4Mapped(*ip)) std::fill(ip->begin() + kNetworkBytes, ip->end(), uint8_t{0});
}

// Returns a name of the client's connection if another member relays its requests, otherwise "".
std::string RelayedName(const Connection& connection) {
  const RelayOrigin* origin = connection.origin();
  if (origin == nullptr) return {};
  const Addresses& addresses = origin->addresses;
  return addresses.remote + " " + std::to_string(addresses.remote_port) + " " + addresses.local +
         " " + std::to_string(addresses.local_port);
}

}  // namespace

bool ConnectionLimits::ReadPeer(int fd, Group* group) {
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0 &&
         ReadClient(peer, group);
}

bool ConnectionLimits::ReadClient(const Connection& connection, Group* group) {
  const RelayOrigin* origin = connection.origin();
  return origin == nullptr ? ReadPeer(connection.fd, group)
                           : ReadClient(origin->addresses.remote, group);
}

bool ConnectionLimits::ReadClient(const sockaddr_storage& peer, Group* group) {
  group->is_client = true;
  std::array<uint8_t, 16>& client = group->client;
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
    client = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::memcpy(client.data() + client.size() - sizeof four.sin_addr, &four.sin_addr,
                sizeof four.sin_addr);
  } else if (peer.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(peer);
    std::memcpy(client.data(), &six.sin6_addr, sizeof six.sin6_addr);
  } else {
    return false;
  }
  KeepNetwork(&client);
  return true;
}

bool ConnectionLimits::ReadClient(std::string_view remote, Group* group) {
  group->is_client = true;
  remote = remote.substr(0, remote.find('%'));
  constexpr std::string_view kDotted = "::ffff:";
  const bool is_dotted = remote.starts_with(kDotted) && remote.find('.') != std::string_view::npos;
  if (is_dotted) remote.remove_prefix(kDotted.size());
  if (!ParseIpAddress(remote, &group->client)) return false;
  KeepNetwork(&group->client);
  return true;
}

bool ConnectionLimits::IsFull(int fd, const LaneServer& server) {
  const uint32_t most = server.config->settings().max_connections_per_address;
  Group group;
  return most != 0 && ReadPeer(fd, &group) && server.counts->IsFull(group, most);
}

bool ConnectionLimits::MayBegin(Connection* connection) {
  const uint32_t most = connection->server()->config->settings().max_connections_per_address;
  Group group;
  return most == 0 || !ReadClient(*connection, &group) ||
         Add(connection, *connection->server(), group, most);
}

bool ConnectionLimits::MayAskLimited(Connection* connection, uint32_t prefix_id) {
  const LaneServer& server = *connection->server();
  const ServerSettings& settings = server.config->settings();
  Connection* real = connection->real();
  auto& counted = real->uncommon().counted;
  if (real->http2 == nullptr) {
    // Stop counting the connection for a server or prefix of its last request that is not the
    // server or prefix of this one.
    std::erase_if(counted.list_, [&](const auto& each) {
      const bool is_left = each.counts != server.counts ||
                           (!each.group.is_client && each.group.prefix_id != prefix_id);
      if (is_left) each.counts->Remove(each.group, counted.relayed_);
      return is_left;
    });
  }
  Group client;
  const bool is_counted = settings.max_connections_per_address != 0 && ReadClient(*real, &client);
  if (is_counted && !Add(real, server, client, settings.max_connections_per_address)) return false;
  return settings.max_connections_per_prefix == 0 ||
         Add(real, server, {.prefix_id = prefix_id}, settings.max_connections_per_prefix);
}

bool ConnectionLimits::Add(Connection* connection, const LaneServer& server, const Group& group,
                           uint32_t most) {
  auto& counted = connection->uncommon().counted;
  const bool is_there = std::any_of(
      counted.list_.begin(), counted.list_.end(),
      [&](const auto& each) { return each.counts == server.counts && each.group == group; });
  if (is_there) return true;
  if (counted.list_.empty()) counted.relayed_ = RelayedName(*connection);
  if (counted.list_.size() >= limits::kCountedGroupsMax) {
    const auto oldest = std::find_if(counted.list_.begin(), counted.list_.end(),
                                     [](const auto& each) { return !each.group.is_client; });
    if (oldest == counted.list_.end()) return false;
    oldest->counts->Remove(oldest->group, counted.relayed_);
    counted.list_.erase(oldest);
  }
  if (!server.counts->Add(group, counted.relayed_, most)) return false;
  counted.list_.push_back({server.counts, group});
  return true;
}

void ConnectionLimits::Forget(Connection* connection) {
  auto& counted = connection->uncommon().counted;
  for (const auto& each : std::exchange(counted.list_, {})) {
    each.counts->Remove(each.group, counted.relayed_);
  }
}

}  // namespace httpsys::engine
