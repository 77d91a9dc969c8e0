#pragma once
// How the members of a port share the memory of their output caches.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "peer/messages.h"
#include "sharing/port_effects.h"

namespace httpsys::sharing {

// The coordinator's part: who has been granted how much. The processes of a port together never use
// more than the smallest bound that one of them names, unless some were stopped and cannot hear
// that they have to use less: then a newcomer gets less. Each gets what it wants, or a fair part:
// if all want more than there is, those that want little get it, and the others the same each.
// Thread: one at a time.
class CacheShares {
 public:
  // Grants are multiples of this, which is what a cache takes and gives back at a time.
  static constexpr uint64_t kUnitBytes = 4 * 1024 * 1024;
  static constexpr uint64_t kDefaultLimitBytes = 256 * 1024 * 1024;

  // What the member at the other end of a link wants, 0 = nothing any more, and what it may use by
  // its own account, which counts if it has seen its last grant. Link 0 is this engine. Members
  // with the same `pid` share one cache.
  void Set(LinkId link, uint32_t pid, const peer::CacheWish& wish);
  // The member has applied its last grant.
  void SetHeld(LinkId link, uint64_t held);
  // The member has gone, and with it what it was granted.
  void Remove(LinkId link);
  void Clear() { members_.clear(); }

  struct Grant {
    LinkId link = 0;
    uint64_t bytes = 0;
    uint32_t serial = 0;
  };

  // Shares out. Returns the grants that have changed. With `keeps`, nobody gets more than
  // it has: members may come that have a part already.
  std::vector<Grant> Update(bool keeps);

 private:
  struct Member {
    uint32_t pid = 0;
    peer::CacheWish wish;
    uint64_t granted = 0;
    // The most that it may use: an earlier, larger grant counts until it says that it uses less.
    uint64_t bound = 0;
    uint32_t serial = 0;  // Of the last grant.
    bool is_told = false;
  };
  // A process.
  struct Share {
    uint64_t wanted = 0;  // In units, as the next three.
    uint64_t used = 0;    // What it may use now, as far as is known.
    uint64_t fair = 0;
    uint64_t granted = 0;
  };

  uint64_t Limit() const;

  std::map<LinkId, Member> members_;
};

}  // namespace httpsys::sharing
