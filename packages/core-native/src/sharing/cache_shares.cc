#include "sharing/cache_shares.h"

#include <algorithm>

namespace httpsys::sharing {

void CacheShares::Set(LinkId link, uint32_t pid, const peer::CacheWish& wish) {
  Member& member = members_[link];
  member.pid = pid;
  member.wish = wish;
  member.bound = std::max(wish.held, member.granted);
  // Whoever asks gets an answer.
  member.is_told = false;
  if (wish.bytes == 0) members_.erase(link);
}

void CacheShares::SetHeld(LinkId link, uint64_t held) {
  const auto found = members_.find(link);
  if (found != members_.end()) found->second.bound = std::max(held, found->second.granted);
}

void CacheShares::Remove(LinkId link) { members_.erase(link); }

uint64_t CacheShares::Limit() const {
  uint64_t limit = UINT64_MAX;
  for (const auto& [link, member] : members_) {
    limit = std::min(limit, member.wish.limit == 0 ? kDefaultLimitBytes : member.wish.limit);
  }
  return limit / kUnitBytes;
}

std::vector<std::pair<LinkId, uint64_t>> CacheShares::Update(bool keeps) {
  std::map<uint32_t, Share> shares;  // By pid.
  for (const auto& [link, member] : members_) {
    Share& share = shares[member.pid];
    share.wanted =
        std::max<uint64_t>(share.wanted, std::max<uint64_t>(member.wish.bytes / kUnitBytes, 1));
    share.used = std::max(share.used, member.bound / kUnitBytes);
  }
  const uint64_t limit = Limit();
  // Those that want least get it first, and leave the more to the others.
  std::vector<Share*> order;
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
    // What others use beyond their part is not there yet.
    if (keeps || used >= limit || share->fair <= share->used) continue;
    const uint64_t more = std::min(share->fair - share->used, limit - used);
    share->granted = share->used + more;
    used += more;
  }
  std::vector<std::pair<LinkId, uint64_t>> changed;
  for (auto& [link, member] : members_) {
    const uint64_t granted = shares[member.pid].granted * kUnitBytes;
    if (member.is_told && member.granted == granted) continue;
    member.granted = granted;
    member.bound = std::max(member.bound, granted);
    member.is_told = true;
    changed.emplace_back(link, granted);
  }
  return changed;
}

}  // namespace httpsys::sharing
