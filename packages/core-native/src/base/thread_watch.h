#pragma once
// Finds out whether another thread works, sleeps, or waits for a CPU.

#include <cstdint>

namespace httpsys {

// Names one thread of this process.
struct ThreadWatch {
  int clock = 0;  // Its CPU clock (clockid_t).
  int id = 0;     // 0 = the system tells nothing about it.
};

// Returns a watch of the calling thread.
ThreadWatch WatchThisThread();
// Returns the CPU time that the thread has used, in ns; 0 if that is not known. Thread: any.
uint64_t CpuNsOf(const ThreadWatch& thread);
// Returns true if the thread runs or could run: it does not sleep. False if that is not known.
// Thread: any.
bool IsRunnable(const ThreadWatch& thread);

}  // namespace httpsys
