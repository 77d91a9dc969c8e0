#pragma once
// Many timers with few distinct durations. There is one list per duration, in order of expiry, so
// that starting or stopping a timer costs a few pointer writes.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace httpsys::engine {

// Base class of an object with a timer. The timer must be stopped before the object is destroyed.
struct TimerNode {
  static constexpr uint8_t kNoList = 0xff;

  TimerNode* timer_before = nullptr;
  TimerNode* timer_after = nullptr;
  uint64_t deadline_ms = 0;
  uint8_t timer_list = kNoList;

  bool is_timer_running() const { return timer_list != kNoList; }
};

// The timers, in one list per duration. The caller supplies the time. Thread: one at a time.
class TimerLists {
 public:
  // Starts a node, or restarts it if it runs. If there are more than limits::kTimerListsMax
  // durations at a time, a node uses the list of the next shorter duration. Returns true if the
  // earliest deadline may have changed.
  bool Start(TimerNode* node, uint64_t now_ms, uint64_t duration_ms);
  void Stop(TimerNode* node);
  // Stops and returns one node whose deadline has passed, or nullptr.
  TimerNode* TakeExpired(uint64_t now_ms);
  // The earliest deadline; UINT64_MAX if no node runs.
  uint64_t NextDeadline() const;

 private:
  struct List {
    uint64_t duration_ms = 0;
    TimerNode* first = nullptr;
    TimerNode* last = nullptr;
  };

  size_t FindList(uint64_t duration_ms);

  std::vector<List> lists_;
  size_t newest_ = 0;  // The list in which a timer was started last.
};

}  // namespace httpsys::engine
