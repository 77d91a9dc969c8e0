#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/cache/co_owners.h"
#include "engine/peers/port_table.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Finds the scopes of this engine's servers that other members with a cache own, too. A scope is 0
// if the server has no cache on the lane, or no scope for the prefix. Visits every target of the
// routes. Thread: the lane.
[[nodiscard]] std::vector<CoOwners::Shared> FindCoOwnedScopes(
    const std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>>& routes,
    const LaneServers& servers);

}  // namespace httpsys::engine
