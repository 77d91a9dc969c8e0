// Threads on systems without a file of their own, macOS among them: they have names; nothing is
// known about other threads, and there is no barrier for all threads of a process.

#include <pthread.h>

#include "base/thread.h"

namespace httpsys {

void SetThreadName(const char* name) { pthread_setname_np(name); }

ThreadWatch WatchThisThread() { return {}; }

uint64_t CpuNsOf(const ThreadWatch&) { return 0; }

bool IsRunnable(const ThreadWatch&) { return false; }

bool HasProcessBarrier() { return false; }

void MakeProcessBarrier() {}

}  // namespace httpsys
