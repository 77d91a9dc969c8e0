#include "engine/connection/timer_lists.h"

#include <algorithm>

#include "base/limits.h"

namespace httpsys::engine {

static_assert(limits::kTimerListsMax < TimerNode::kNoList);

size_t TimerLists::FindList(uint64_t duration_ms) {
  size_t unused = lists_.size();
  size_t shorter = 0;
  size_t shortest = 0;
  for (size_t i = 0; i < lists_.size(); ++i) {
    const List& list = lists_[i];
    if (list.duration_ms == duration_ms) return i;
    if (list.first == nullptr) unused = i;
    if (list.duration_ms < lists_[shortest].duration_ms) shortest = i;
    const bool is_closer =
        lists_[shorter].duration_ms > duration_ms || list.duration_ms > lists_[shorter].duration_ms;
    if (list.duration_ms < duration_ms && is_closer) shorter = i;
  }
  if (unused == lists_.size()) {
    if (lists_.size() == limits::kTimerListsMax) {
      return lists_[shorter].duration_ms < duration_ms ? shorter : shortest;
    }
    lists_.emplace_back();
  }
  lists_[unused].duration_ms = duration_ms;
  return unused;
}

bool TimerLists::Start(TimerNode* node, uint64_t now_ms, uint64_t duration_ms) {
  Stop(node);
  // Shortcut: most timers of a lane have the same duration as the timer started before.
  const bool is_like_newest = newest_ < lists_.size() && lists_[newest_].duration_ms == duration_ms;
  const size_t index = is_like_newest ? newest_ : FindList(duration_ms);
  newest_ = index;
  List& list = lists_[index];
  node->timer_list = static_cast<uint8_t>(index);
  node->deadline_ms = now_ms + list.duration_ms;
  node->timer_after = nullptr;
  node->timer_before = list.last;
  (list.last == nullptr ? list.first : list.last->timer_after) = node;
  list.last = node;
  return list.first == node;
}

void TimerLists::Stop(TimerNode* node) {
  if (!node->is_timer_running()) return;
  List& list = lists_[node->timer_list];
  (node->timer_before == nullptr ? list.first : node->timer_before->timer_after) =
      node->timer_after;
  (node->timer_after == nullptr ? list.last : node->timer_after->timer_before) = node->timer_before;
  node->timer_before = node->timer_after = nullptr;
  node->timer_list = TimerNode::kNoList;
}

TimerNode* TimerLists::TakeExpired(uint64_t now_ms) {
  for (const List& list : lists_) {
    if (list.first == nullptr || list.first->deadline_ms > now_ms) continue;
    TimerNode* node = list.first;
    Stop(node);
    return node;
  }
  return nullptr;
}

uint64_t TimerLists::NextDeadline() const {
  uint64_t earliest = UINT64_MAX;
  for (const List& list : lists_) {
    if (list.first != nullptr) earliest = std::min(earliest, list.first->deadline_ms);
  }
  return earliest;
}

}  // namespace httpsys::engine
