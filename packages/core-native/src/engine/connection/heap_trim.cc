#include "engine/connection/heap_trim.h"

#include "base/limits.h"
#include "base/process_memory.h"

namespace httpsys::engine {

HeapTrim::HeapTrim(uv_loop_t* loop) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void HeapTrim::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

void HeapTrim::OnDropped() {
  ++dropped_;
  StartAfterMany();
}

// Drops while the timer runs do not postpone it. If they are many, another trim follows.
void HeapTrim::StartAfterMany() {
  if (dropped_ < limits::kTrimAfterDrops) return;
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  dropped_ = 0;
  const auto trim = [](uv_timer_t* timer) {
    TrimHeap();
    static_cast<HeapTrim*>(timer->data)->StartAfterMany();
  };
  uv_timer_start(&timer_, trim, limits::kUnusedMs, 0);
}

}  // namespace httpsys::engine
