#include "sharing/port_routes.h"

#include <optional>

namespace httpsys::sharing {
const PortRoutes::Place* PortRoutes::FindPlace(const LocalAddress& local) const {
  return is_mixed_ && local.is_ip ? places_.Find(local.ip) : nullptr;
}

Route PortRoutes::Find(std::string_view name, std::string_view target,
                       const LocalAddress& local) const {
  Route route = table_.Match(name, target, local);
  const bool is_nobodys =
      route.status == RouteStatus::kNotFound || route.status == RouteStatus::kUnknownHost;
  if (is_nobodys && offline_.Match(name, target, local).status == RouteStatus::kMatch) {
    route.status = RouteStatus::kOffline;
  }
  return route;
}

size_t PortRoutes::CountOwners(const UrlPrefix& prefix) const {
  const std::optional<uint32_t> id = table_.IdOf(prefix);
  return id ? target(*id).owners.size() : 0;
}

size_t PortRoutes::CountOwners(uint32_t server_id) const {
  for (uint32_t id = 0; id < target_limit(); ++id) {
    const std::vector<Owner>& owners = target(id).owners;
    if (std::any_of(owners.begin(), owners.end(), [=](const Owner& owner) {
          return owner.member == 0 && owner.server_id == server_id && owner.is_plain;
        })) {
      return owners.size();
    }
  }
  return 0;
}

PortRoutes::HostOwner PortRoutes::FindHost(std::string_view name, const LocalAddress& local,
                                           uint32_t preferred_id) const {
  HostOwner found;
  for (const uint32_t id : table_.IdsOf(name, local, &found.is_named)) {
    for (const Owner& owner : target(id).owners) {
      const bool is_preferred =
          preferred_id != 0 && owner.member == 0 && owner.server_id == preferred_id;
      const bool is_no_better = found.is_there && (found.member == 0 || owner.member != 0);
      if (is_no_better && !is_preferred) continue;
      found.is_there = true;
      found.is_preferred = is_preferred;
      if (is_preferred) {
        found.member = 0;
        found.server_id = preferred_id;
        return found;
      }
      found.member = owner.member;
      found.server_id = owner.server_id;
    }
  }
  return found;
}

}  // namespace httpsys::sharing
