#pragma once

#include <uv.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "engine/cache/co_owners.h"
#include "engine/cache/process_cache.h"
#include "engine/peers/port_table.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "peer/messages.h"
#include "sharing/channel.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Finds the scopes of this engine's servers that other members with a cache own, too. A scope is 0
// if the server has no cache on the lane, or no scope for the prefix. Visits every target of the
// routes. Thread: the lane.
[[nodiscard]] std::vector<CoOwners::Shared> FindCoOwnedScopes(
    const std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>>& routes,
    const LaneServers& servers);

// Requests the caches of other members, over one data connection each, and maps their memory.
// Checks and limits everything that an owner sends. An owner that sends nothing costs a descriptor;
// requests for its URLs go to the owner. Also requests the invalidation counters of members that
// own prefixes together with this engine. Thread: one lane of the engine.
class ArenaLinks final : public sharing::Channel::Handler {
 public:
  // `self` is this member. `arenas`, `cache` and `servers` must outlive this object.
  ArenaLinks(uv_loop_t* loop, uint64_t self, ForeignArenas* arenas, ProcessCache* cache,
             const LaneServers* servers);
  ArenaLinks& operator=(ArenaLinks&&) = delete;

  // Implements ForeignArenas::AskOwner.
  void Ask(uint64_t member, uint32_t server_id, uint32_t prefix_id);
  // Must be called when a port has new routes. Forgets members that have left all ports, and ends
  // the scopes of killed processes for prefixes that have an owner again.
  void OnRoutes(std::shared_ptr<const sharing::PortRoutes> routes);
  // Must be called when a server of the lane has new settings. Does nothing unless another member
  // owns one of this engine's prefixes, too: if later routes add such an owner, OnRoutes() looks at
  // all servers.
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
  // Closes the link to a member, and forgets the member a little later: then it can be asked again.
  void GiveUp(uint64_t member);
  void OnIndex(uint64_t member, int fd);
  bool OnChunk(uint64_t member, const peer::Frame& frame, int fd);
  bool OnGone(uint64_t member, const peer::Frame& frame);
  bool OnScope(uint64_t member, const peer::Frame& frame);
  bool OnCounters(uint64_t member, int fd);
  // Updates the list of other owners of this engine's prefixes, and requests missing counters.
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
  std::set<uint64_t> asked_;               // Members whose counters were requested.
  uint64_t owners_version_ = 1;            // CoOwners::version() that was announced last.
  bool has_shared_ = false;                // Other members own prefixes of this engine, too.
  std::vector<uint64_t> missing_;          // Owners whose counters are not known.
  uint64_t missing_since_ms_ = 0;          // Time of the last change of missing_ (ms, uv_now()).
  bool has_former_ = false;                // CoOwners::Sweep() has more to do.
  std::map<uint64_t, uint64_t> given_up_;  // Members not to ask until this time (ms, uv_now()).
  std::set<uint64_t> orphaned_;            // Members whose process was killed.
  // Orphaned members whose name still exists, and when they will count as alive (ms, uv_now()).
  std::map<uint64_t, uint64_t> doubtful_;
  // The newest routes of each port that has other members.
  std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>> routes_;
};

}  // namespace httpsys::engine
