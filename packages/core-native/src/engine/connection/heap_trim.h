#pragma once
// Gives memory back to the kernel after many connections have ended with unsent output.

#include <uv.h>

#include <cstddef>

namespace httpsys::engine {

// malloc() would keep the memory of a flood of connections. One trim follows a flood, once its
// connections have been freed. Thread: the lane.
class HeapTrim {
 public:
  explicit HeapTrim(uv_loop_t* loop);
  HeapTrim(const HeapTrim&) = delete;
  HeapTrim& operator=(const HeapTrim&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Must be called when unsent output of a connection was dropped.
  void OnDropped();

 private:
  void StartAfterMany();

  uv_timer_t timer_;
  size_t dropped_ = 0;  // Calls of OnDropped() since the timer was started.
};

}  // namespace httpsys::engine
