#pragma once
// Remembers which members have said that their JavaScript is blocked, and which members this one
// has told the same.

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "peer/messages.h"
#include "sharing/channel.h"

namespace httpsys::engine {

// A blocked member passes its requests on. Without this knowledge the receiver, if it has no CPU
// for a moment, would pass them back. So a blocked member sends kBlocked before the requests, and
// kBegun over the same channel when its JavaScript has begun a request: the two cannot overtake
// each other. Thread: the lane.
class BlockedPeers {
 public:
  using Channel = sharing::Channel;

  // Must be called when the JavaScript of this member is blocked, and when it has begun a request
  // since: that sends kBegun to the members that got kBlocked.
  void SetBlocked(bool is_blocked) {
    is_blocked_ = is_blocked;
    if (is_blocked) return;
    for (Channel* channel : told_) channel->Send(peer::FrameType::kBegun, {});
    told_.clear();
  }
  // Must be called before requests are passed on over the channel.
  void Tell(Channel* channel) {
    if (is_blocked_ && told_.insert(channel).second) channel->Send(peer::FrameType::kBlocked, {});
  }
  void OnBlocked(const Channel* channel, uint64_t member) { blocked_[channel] = member; }
  // Handles kBegun. Returns false if the member has not said before that it was blocked.
  bool OnBegun(const Channel* channel) { return blocked_.erase(channel) != 0; }
  // Forgets a channel that has ended. Returns true if the member at its other end was blocked.
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
