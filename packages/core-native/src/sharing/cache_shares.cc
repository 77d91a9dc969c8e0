#include "sharing/cache_shares.h"

#include <algorithm>

namespace httpsys::sharing {

void CacheShares::Set(LinkId link, uint32_t pid, const peer::CacheWish& wish) {
  const auto [found, is_new] = members_.try_emplace(link);
  Member& member = found->second;
  const bool is_same =
      !is_new && wish.bytes == member.wish.bytes && wish.limit == member.wish.limit;
  member.pid = pid;
  member.wish = wish;
  // If the member has not seen its last grant, wish.held may be outdated: the larger value counts.
  const bool is_newest = wish.serial == member.serial;
  member.bound = is_newest ? wish.held : std::max(member.bound, wish.held);
  member.is_told = member.is_told && is_same;
  if (wish.bytes == 0) member.granted = 0;
}

void CacheShares::SetHeld(LinkId link, uint64_t held) {
  const auto found = members_.find(link);
  if (found != members_.end()) found->second.bound = held;
}

void CacheShares::Remove(LinkId link) { members_.erase(link); }

uint64_t CacheShares::Limit() const {
  uint64_t limit = UINT64_MAX;
  for (const auto& [link, member] : members_) {
    if (member.wish.bytes == 0) continue;
    limit = std::min(limit, member.wish.limit == 0 ? kDefaultLimitBytes : member.wish.limit);
  }
  return limit / kUnitBytes;
}

std::vector<CacheShares::Grant> CacheShares::Update(bool keeps) {
  std::map<uint32_t, Share> shares;  // By pid.
  for (const auto& [link, member] : members_) {
    Share& share = shares[member.pid];
    const uint64_t wanted = std::max<uint64_t>(member.wish.bytes / kUnitBytes, 1);
    share.wanted = std::max(share.wanted, member.wish.bytes == 0 ? 0 : wanted);
    share.used = std::max(share.used, member.bound / kUnitBytes);
  }
  const uint64_t limit = Limit();
  // Processes with the smallest wishes come first; the others share the rest.
  std::vector<Share*> order;
  order.reserve(shares.size());
  for (auto& [pid, share] : shares) order.push_back(&share);
  std::stable_sort(order.begin(), order.end(), [](const Share* one, const Share* other) {
    return one->wanted < other->wanted;
  });
  uint64_t left = limit;
  uint64_t used = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t count = order.size() - i;
    order[i]->fair = std::min(order[i]->wanted, (left + count - 1) / count);
    left -= order[i]->fair;
    used += order[i]->used;
  }
  for (Share* share : order) {
    share->granted = std::min(share->fair, share->used);
    // Memory that other processes still use beyond their share is not free yet.
    if (keeps || used >= limit || share->fair <= share->used) continue;
    const uint64_t more = std::min(share->fair - share->used, limit - used);
    share->granted = share->used + more;
    used += more;
  }
  std::vector<Grant> changed;
  for (auto& [link, member] : members_) {
    if (member.wish.bytes == 0) continue;
    const uint64_t granted = shares[member.pid].granted * kUnitBytes;
    if (member.is_told && member.granted == granted) continue;
    member.granted = granted;
    member.bound = std::max(member.bound, granted);
    member.is_told = true;
    changed.push_back({link, granted, ++member.serial});
  }
  return changed;
}

}  // namespace httpsys::sharing
