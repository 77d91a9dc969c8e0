#include "sharing/rank_owners.h"

#include "base/limits.h"

namespace httpsys::sharing {

bool RankOwners::IsStrangers(const std::string& name, uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  std::erase_if(answers_, [=](const auto& item) {
    return now_ms - item.second.asked_ms >= limits::kRankOwnerMs;
  });
  const auto [found, is_new] = answers_.try_emplace(name);
  if (is_new) found->second = {now_ms, ask_(name)};
  return found->second.is_strangers;
}

}  // namespace httpsys::sharing
