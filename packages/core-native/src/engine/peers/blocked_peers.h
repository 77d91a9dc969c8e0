#pragma once
// Keeps in mind which members have said that their JavaScript is blocked, and who has heard the
// same of this member.

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "peer/messages.h"
#include "sharing/channel.h"

namespace httpsys::engine {

// A blocked member passes its requests on. Without this knowledge a member that has got them, and
// has no CPU for a moment, would pass them back. Who gets something from a blocked member is told
// (kBlocked), and hears over the same channel when JavaScript has begun something (kBegun), so that
// the two cannot overtake each other. Thread: the lane.
class BlockedPeers {
 public:
  using Channel = sharing::Channel;

  // The JavaScript of this member is blocked, or has begun something: those that were told hear of
  // it.
  void SetBlocked(bool is_blocked) {
    is_blocked_ = is_blocked;
    if (is_blocked) return;
    for (Channel* channel : told_) channel->Send(peer::FrameType::kBegun, {});
    told_.clear();
  }
  // Must be called before something is passed on over the channel.
  void Tell(Channel* channel) {
    if (is_blocked_ && told_.insert(channel).second) channel->Send(peer::FrameType::kBlocked, {});
  }
  void OnBlocked(const Channel* channel, uint64_t member) { blocked_[channel] = member; }
  // The member has begun something. Returns false if it has not said that it was blocked.
  bool OnBegun(const Channel* channel) { return blocked_.erase(channel) != 0; }
  // Returns true if the member at the other end had said that it is blocked.
  bool OnGone(Channel* channel) {
    told_.erase(channel);
    return OnBegun(channel);
  }
  bool IsBlocked(uint64_t member) const {
    return std::any_of(blocked_.begin(), blocked_.end(),
                       [=](const auto& item) { return item.second == member; });
  }

 private:
  bool is_blocked_ = false;
  std::unordered_set<Channel*> told_;
  std::unordered_map<const Channel*, uint64_t> blocked_;
};

}  // namespace httpsys::engine
