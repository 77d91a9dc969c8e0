#pragma once
// Counters of a member on a port since it started, for reports of the port's state.

#include <cstdint>
#include <map>
#include <utility>

#include "base/counters.h"

namespace httpsys::sharing {

struct PortCounters {
  MemberCounters<uint64_t> member;
  std::map<uint32_t, QueueCounters<uint64_t>> servers;
  // By server id and prefix id.
  std::map<std::pair<uint32_t, uint32_t>, PrefixCounters<uint64_t>> prefixes;
};

}  // namespace httpsys::sharing
