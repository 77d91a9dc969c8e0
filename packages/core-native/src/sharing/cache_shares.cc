#include "sharing/cache_shares.h"

#include <algorithm>

#include "base/counters.h"

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

void CacheGrants::Begin(bool may_come) {
  shares_.Clear();
  is_reunion_ = may_come;
  OnOwnWish();
}

void CacheGrants::EndReunion() {
  is_reunion_ = false;
  Tell();
}

// Ends the reunion if every member of the last term has come back or its process has ended. Members
// send their use of memory when they come back, and ended processes use none: so the cache of a
// restarted process need not wait until the reunion's deadline.
void CacheGrants::EndReunionIfAll(const std::function<bool(uint64_t member)>& is_back) {
  if (!is_reunion_) return;
  for (const auto& [id, member] : record_->state.members()) {
    if (!is_back(id) && !effects_->IsGone(id)) return;
  }
  EndReunion();
}

void CacheGrants::OnOwnWish() {
  shares_.Set(0, record_->self.pid, record_->cache);
  // A grant to this engine itself is applied at once.
  shares_.SetHeld(0, record_->cache.held);
  Tell();
}

bool CacheGrants::OnWish(LinkId link, uint32_t pid, std::string_view payload) {
  peer::CacheWish wish;
  if (!peer::Decode(payload, &wish)) return false;
  shares_.Set(link, pid, wish);
  Tell();
  return true;
}

void CacheGrants::OnBroken(LinkId link) {
  shares_.Remove(link);
  Tell();
}

// Sends changed grants, in a loop: memory that this engine itself gives back is free at once.
void CacheGrants::Tell() {
  bool is_freed = true;
  while (std::exchange(is_freed, false)) {
    for (const auto& [link, bytes, serial] : shares_.Update(is_reunion_)) {
      if (link != 0) {
        const peer::CacheGrant grant{bytes, serial};
        effects_->Tell(link, peer::FrameType::kCacheGrant, peer::Encode(grant));
        continue;
      }
      is_freed = bytes < record_->cache.held;
      record_->TakeGrant(bytes);
      shares_.SetHeld(0, bytes);
    }
  }
}

}  // namespace httpsys::sharing
