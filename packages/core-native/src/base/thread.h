#pragma once
// Names, scheduling and observation of threads, and a barrier for all threads of the process.

#include <pthread.h>
#include <sched.h>

#include <csignal>
#include <cstdint>

namespace httpsys {

// Names the calling thread for debuggers and `top`: at most 15 characters. Thread: any.
void SetThreadName(const char* name);

// -- Finds out whether another thread works, sleeps, or waits for a CPU.

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

// Blocks all signals on the calling thread while the object exists. Threads started meanwhile
// inherit that, so signals go to the application's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked& operator=(SignalsBlocked&&) = delete;

 private:
  sigset_t before_;
};

// -- Scheduling of threads: SetPatient() and GiveWay().

// Turns patience of the calling thread on or off. A patient thread that gets work does not
// interrupt the thread that runs on the only free CPU, so that more work arrives meanwhile. Has no
// effect without SCHED_BATCH, or if another scheduling policy was chosen for the process.
inline void SetPatient([[maybe_unused]] bool is_patient) {
#ifdef SCHED_BATCH
  int policy = 0;
  sched_param parameters{};
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0) return;
  if (policy != (is_patient ? SCHED_OTHER : SCHED_BATCH)) return;
  pthread_setschedparam(pthread_self(), is_patient ? SCHED_BATCH : SCHED_OTHER, &parameters);
#endif
}

// Lets other threads that wait for this CPU run first. Thread: any.
inline void GiveWay() { sched_yield(); }

// -- A memory barrier that one thread executes for all threads of the process. If thread A stores x
// and then reads y, without a barrier, while thread B stores y, executes this barrier and then
// reads x, at least one of them sees the other's store. Thread: any.

// Returns true if MakeProcessBarrier() works. While it returns false, thread A must execute a
// barrier, too. The first call registers the process with the system, which takes some 10 ms.
bool HasProcessBarrier();
// Executes the barrier, in some microseconds. HasProcessBarrier() must have returned true.
void MakeProcessBarrier();

}  // namespace httpsys
