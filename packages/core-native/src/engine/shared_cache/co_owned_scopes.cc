#include "engine/shared_cache/co_owned_scopes.h"

namespace httpsys::engine {
namespace {

using Owner = sharing::PortRoutes::Owner;

// Returns the scope of a server of this engine, and the other members that own it.
CoOwners::Shared SharedOf(const Owner& own, const std::vector<uint64_t>& members,
                          const LaneServers& servers) {
  CoOwners::Shared shared;
  shared.members = members;
  const auto server = servers.find(own.server_id);
  if (server == servers.end() || server->second->config->cache() == nullptr) return shared;
  const ServerConfig& config = *server->second->config;
  shared.scope = config.cache()->ScopeOf(own.prefix_id);
  if (shared.scope != 0 && config.has_prefixes()) {
    shared.prefix = config.PrefixText(own.prefix_id);
  }
  return shared;
}

}  // namespace

std::vector<CoOwners::Shared> FindCoOwnedScopes(
    const std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>>& routes,
    const LaneServers& servers) {
  std::vector<CoOwners::Shared> found;
  std::vector<uint64_t> members;
  for (const auto& [port, version] : routes) {
    for (uint32_t id = 0; id < version->target_limit(); ++id) {
      const std::vector<Owner>& owners = version->target(id).owners;
      if (owners.size() < 2) continue;
      members.clear();
      for (const Owner& owner : owners) {
        if (owner.member != 0 && owner.is_cached) members.push_back(owner.member);
      }
      if (members.empty()) continue;
      for (const Owner& owner : owners) {
        if (owner.member != 0 || !owner.is_cached) continue;
        found.push_back(SharedOf(owner, members, servers));
      }
    }
  }
  return found;
}

}  // namespace httpsys::engine
