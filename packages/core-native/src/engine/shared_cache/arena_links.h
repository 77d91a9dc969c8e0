#pragma once

#include <uv.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "engine/cache/process_cache.h"
#include "engine/peers/port_table.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "peer/messages.h"
#include "sharing/channel.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Asks other members for their caches, one data connection for each, and maps what they give.
// Everything that an owner says is checked and bounded. An owner that says nothing costs a
// descriptor, and its URLs are answered as without a cache. Asks the other owners of our own
// prefixes for their counters of invalidations, too. Thread: one lane of the engine.
class ArenaLinks final : public sharing::Channel::Handler {
 public:
  // `self` is this member. `arenas`, `cache` and `servers` must outlive this object.
  ArenaLinks(uv_loop_t* loop, uint64_t self, ForeignArenas* arenas, ProcessCache* cache,
             const LaneServers* servers);
  ArenaLinks(const ArenaLinks&) = delete;
  ArenaLinks& operator=(const ArenaLinks&) = delete;

  // ForeignArenas::AskOwner.
  void Ask(uint64_t member, uint32_t server_id, uint32_t prefix_id);
  // A port has new routes. Lets go of members that have left all ports. The caches of killed
  // processes answer no more for prefixes that have an owner again.
  void OnRoutes(std::shared_ptr<const sharing::PortRoutes> routes);
  // A server of the lane has other settings. They concern nobody unless the routes say that another
  // member owns a prefix of this engine. Whoever comes to own one later comes with new routes,
  // which are compared with all servers.
  void OnServer() {
    if (has_shared_) UpdateOwners();
  }
  // Closes all links. Must be called before the loop is closed.
  void Close();

  void OnFrame(sharing::Channel* channel, const peer::Frame& frame,
               std::span<const int> fds) override;
  void OnBatchEnd(sharing::Channel*) override {}
  void OnBroken(sharing::Channel* channel) override;

 private:
  sharing::Channel* Connect(uint64_t member);
  // Forgets the member a little later, so that it is asked again then.
  void GiveUp(uint64_t member);
  void OnIndex(uint64_t member, int fd);
  bool OnChunk(uint64_t member, const peer::Frame& frame, int fd);
  bool OnGone(uint64_t member, const peer::Frame& frame);
  bool OnScope(uint64_t member, const peer::Frame& frame);
  bool OnCounters(uint64_t member, int fd);
  // Finds the owners of our prefixes anew, and asks those for their counters that have not given
  // them.
  void UpdateOwners();
  void SweepOwners();
  void Follow(uint64_t member);
  static bool IsPeer(const sharing::PortRoutes& routes, uint64_t member);
  // Forgets the scopes of a killed process whose prefixes have another owner.
  void EndScopes(uint64_t member);
  void Sweep();
  void ArmTimer();

  uv_loop_t* loop_;
  const uint64_t self_;
  ForeignArenas* arenas_;
  ProcessCache* cache_;
  const LaneServers* servers_;
  uv_timer_t timer_;
  bool is_closed_ = false;
  std::map<uint64_t, sharing::Channel*> links_;  // By member.
  std::map<sharing::Channel*, uint64_t> members_;
  std::set<uint64_t> asked_;               // Members whose counters are on their way.
  uint64_t owners_version_ = 1;            // CoOwners::version() that was announced last.
  bool has_shared_ = false;                // By the routes other members own prefixes of ours.
  std::vector<uint64_t> missing_;          // Owners whose counters are not known.
  uint64_t missing_since_ms_ = 0;          // Since when they are these (ms, uv_now()).
  bool has_former_ = false;                // CoOwners::Sweep() has more to do.
  std::map<uint64_t, uint64_t> given_up_;  // Until when (ms, uv_now()), by member.
  std::set<uint64_t> orphaned_;            // Members whose process was killed.
  // Those of them whose name is still there, and until when (ms, uv_now()) it may be.
  std::map<uint64_t, uint64_t> doubtful_;
  // The newest routes of each port with other members. When the last one leaves, its routes go.
  std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>> routes_;
};

}  // namespace httpsys::engine
