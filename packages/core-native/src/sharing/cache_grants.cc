#include "sharing/cache_grants.h"

#include <utility>

namespace httpsys::sharing {

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
