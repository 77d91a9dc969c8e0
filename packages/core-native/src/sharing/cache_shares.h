#pragma once
// How the members of a port share the memory of their output caches.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "peer/messages.h"
#include "sharing/port_effects.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// The coordinator's table of grants. If all processes together want more than there is, small
// wishes are granted in full, and the other processes get equal shares. All processes of a port
// together use at most the smallest limit that one of them names. A stopped process cannot give
// memory back, so a newcomer gets less until it runs again. Thread: one at a time.
class CacheShares {
 public:
  // Grants are multiples of this size, in which a cache takes and gives back memory.
  static constexpr uint64_t kUnitBytes = 4 * 1024 * 1024;
  static constexpr uint64_t kDefaultLimitBytes = 256 * 1024 * 1024;

  // Sets the wish of the member at the other end of a link; wish.bytes is 0 if it wants nothing.
  // wish.held, the memory that the member believes it may use, counts only if the member has seen
  // its last grant. Link 0 is this engine. Members with the same `pid` share one cache.
  void Set(LinkId link, uint32_t pid, const peer::CacheWish& wish);
  // Must be called when the member has applied its last grant, of `held` bytes.
  void SetHeld(LinkId link, uint64_t held);
  // Removes a member that has gone, and its grant.
  void Remove(LinkId link);
  void Clear() { members_.clear(); }

  struct Grant {
    LinkId link = 0;
    uint64_t bytes = 0;
    uint32_t serial = 0;
  };

  // Divides the memory and returns the grants that have changed. If `keeps`, no grant grows,
  // because members of the last term may still come back with memory that they use.
  std::vector<Grant> Update(bool keeps);

 private:
  struct Member {
    uint32_t pid = 0;
    peer::CacheWish wish;
    uint64_t granted = 0;
    // The most that the member may use. An earlier, larger grant counts until the member uses less.
    uint64_t bound = 0;
    uint32_t serial = 0;  // Serial of the last grant.
    bool is_told = false;
  };
  // The share of one process, in units of kUnitBytes.
  struct Share {
    uint64_t wanted = 0;
    uint64_t used = 0;  // Memory that the process may use now, as far as the coordinator knows.
    uint64_t fair = 0;
    uint64_t granted = 0;
  };

  uint64_t Limit() const;

  std::map<LinkId, Member> members_;
};

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
