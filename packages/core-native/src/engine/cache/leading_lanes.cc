#include "engine/cache/leading_lanes.h"

#include <algorithm>
#include <utility>

namespace httpsys::engine {

void LeadingLanes::Enter(const void* lane, Tell tell) {
  const std::scoped_lock lock(mutex_);
  lanes_[lane] = std::move(tell);
}

void LeadingLanes::Leave(const void* lane) {
  const std::scoped_lock lock(mutex_);
  lanes_.erase(lane);
  for (auto at = keys_.begin(); at != keys_.end();) {
    std::erase(at->second.waiting, lane);
    at = at->second.leader == lane ? PassAt(at) : std::next(at);
  }
}

bool LeadingLanes::Begin(const void* lane, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) {
    if (keys_.size() < kKeysMax) keys_[key].leader = lane;
    return true;
  }
  if (found->second.leader == lane) return true;
  std::vector<const void*>& waiting = found->second.waiting;
  if (std::find(waiting.begin(), waiting.end(), lane) == waiting.end()) waiting.push_back(lane);
  return false;
}

bool LeadingLanes::Claim(const void* lane, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  if (keys_.contains(key)) return false;
  if (keys_.size() < kKeysMax) keys_[key].leader = lane;
  return true;
}

void LeadingLanes::Finish(const void* lane, const std::string& key, Event event) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end() || found->second.leader != lane) return;
  for (const void* other : found->second.waiting) TellLane(other, key, event);
  keys_.erase(found);
}

void LeadingLanes::GiveUp(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  for (const void* other : found->second.waiting) TellLane(other, key, Event::kUnknown);
  keys_.erase(found);
}

void LeadingLanes::Pass(const void* lane, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found != keys_.end() && found->second.leader == lane) PassAt(found);
}

void LeadingLanes::Look(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found != keys_.end()) TellLane(found->second.leader, key, Event::kLook);
}

void LeadingLanes::TellLane(const void* lane, const std::string& key, Event event) const {
  const auto found = lanes_.find(lane);
  if (found != lanes_.end()) found->second(key, event);
}

LeadingLanes::Keys::iterator LeadingLanes::PassAt(Keys::iterator at) {
  auto& [key, state] = *at;
  if (state.waiting.empty()) return keys_.erase(at);
  state.leader = state.waiting.front();
  state.waiting.erase(state.waiting.begin());
  TellLane(state.leader, key, Event::kLeadsNow);
  return std::next(at);
}

}  // namespace httpsys::engine
