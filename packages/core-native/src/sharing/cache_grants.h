#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sharing/cache_shares.h"
#include "sharing/port_effects.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// Divides the memory for output caches among the members, as coordinator. Thread: one at a time.
class CacheGrants {
 public:
  CacheGrants(PortRecord* record, PortEffects* effects) : record_(record), effects_(effects) {}

  // Begins a term. If `may_come`, members of the last term may come back with the memory that they
  // have, so no grant grows until EndReunion().
  void Begin(bool may_come);
  void EndReunion();
  // Ends the reunion early if each member has come back or died. Must be called only if all members
  // of the last term are known.
  void EndReunionIfAll(const std::function<bool(uint64_t member)>& is_back);
  void End() { shares_.Clear(); }
  // Must be called when this engine's wish (PortRecord::cache) has changed.
  void OnOwnWish();
  // Handles a member's new wish. Returns false if the payload is malformed.
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
