// For systems that do not report the state of other threads.

#include "base/thread_watch.h"

namespace httpsys {

ThreadWatch WatchThisThread() { return {}; }

uint64_t CpuNsOf(const ThreadWatch&) { return 0; }

bool IsRunnable(const ThreadWatch&) { return false; }

}  // namespace httpsys
