#include "engine/connection/lane_server.h"

namespace httpsys::engine {

bool ConnectionCounts::Add(const Group& group, const std::string& relayed, uint32_t most) {
  const std::lock_guard lock(mutex_);
  Count& count = counts_[group];
  if (!relayed.empty() && count.relayed.contains(relayed)) {
    ++count.relayed[relayed];
    return true;
  }
  if (count.connections >= most) {
    if (count.connections == 0) counts_.erase(group);
    return false;
  }
  ++count.connections;
  if (!relayed.empty()) count.relayed[relayed] = 1;
  return true;
}

void ConnectionCounts::Remove(const Group& group, const std::string& relayed) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(group);
  if (found == counts_.end()) return;
  Count& count = found->second;
  if (!relayed.empty()) {
    const auto name = count.relayed.find(relayed);
    if (name == count.relayed.end() || --name->second != 0) return;
    count.relayed.erase(name);
  }
  if (--count.connections == 0) counts_.erase(found);
}

bool ConnectionCounts::IsFull(const Group& group, uint32_t most) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(group);
  return found != counts_.end() && found->second.connections >= most;
}

}  // namespace httpsys::engine
