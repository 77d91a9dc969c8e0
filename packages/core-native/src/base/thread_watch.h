#pragma once
// Determines whether another thread works, sleeps, or waits for a CPU.

#include <cstdint>

namespace httpsys {

// Identifies one thread of this process.
struct ThreadWatch {
  int clock = 0;  // Its CPU clock (clockid_t).
  int id = 0;     // Thread id; 0 = the system has no information about other threads.
};

// Returns a watch of the calling thread.
ThreadWatch WatchThisThread();
// Returns the CPU time that the thread has used, in ns; 0 if it is unknown. Thread: any.
uint64_t CpuNsOf(const ThreadWatch& thread);
// Returns true if the thread runs or waits for a CPU; false = asleep or unknown. Thread: any.
bool IsRunnable(const ThreadWatch& thread);

}  // namespace httpsys
