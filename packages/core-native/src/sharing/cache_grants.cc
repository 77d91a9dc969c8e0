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

void CacheGrants::OnOwnWish() {
  shares_.Set(0, record_->self.pid, record_->cache);
  // Grants to this engine are applied at once.
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

// What this engine gives back is there for the others at once.
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
