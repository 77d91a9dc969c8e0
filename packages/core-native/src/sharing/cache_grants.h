#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sharing/cache_shares.h"
#include "sharing/port_effects.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// Shares out the memory for output caches among the members of a port, as its coordinator. Thread:
// one at a time.
class CacheGrants {
 public:
  CacheGrants(PortRecord* record, PortEffects* effects) : record_(record), effects_(effects) {}

  // Begins a term. With `may_come`, members of the last term may come back with what they have, so
  // that nobody gets more until EndReunion().
  void Begin(bool may_come);
  void EndReunion();
  // Ends the reunion before its time, if each member is back or has died. All members of the last
  // term must be known.
  void EndReunionIfAll(const std::function<bool(uint64_t member)>& is_back);
  void End() { shares_.Clear(); }
  // This engine wants something else, or nothing any more.
  void OnOwnWish();
  // A member wants something else. Returns false if it speaks nonsense.
  bool OnWish(LinkId link, uint32_t pid, std::string_view payload);
  void OnBroken(LinkId link);

 private:
  void Tell();

  PortRecord* const record_;
  PortEffects* const effects_;
  CacheShares shares_;
  bool is_reunion_ = false;
};

}  // namespace httpsys::sharing
