#pragma once
// Many timers of few distinct durations: one list per duration, in order of expiry, so that
// starting and stopping one costs a few pointer writes.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace httpsys::engine {

// A base of what it times. Must be stopped before it goes away.
struct TimerNode {
  static constexpr uint8_t kNoList = 0xff;

  TimerNode* timer_before = nullptr;
  TimerNode* timer_after = nullptr;
  uint64_t deadline_ms = 0;
  uint8_t timer_list = kNoList;

  bool is_timer_running() const { return timer_list != kNoList; }
};

// The caller supplies the time. Thread: one at a time.
class TimerLists {
 public:
  // Restarts a running node. With more than limits::kTimerListsMax durations at a time a node
  // shares the list of the next shorter one. True when the earliest deadline may have changed.
  bool Start(TimerNode* node, uint64_t now_ms, uint64_t duration_ms);
  void Stop(TimerNode* node);
  // Stops and returns a node whose deadline has come, or nullptr.
  TimerNode* TakeExpired(uint64_t now_ms);
  // UINT64_MAX when nothing runs.
  uint64_t NextDeadline() const;

 private:
  struct List {
    uint64_t duration_ms = 0;
    TimerNode* first = nullptr;
    TimerNode* last = nullptr;
  };

  size_t FindList(uint64_t duration_ms);

  std::vector<List> lists_;
};

}  // namespace httpsys::engine
