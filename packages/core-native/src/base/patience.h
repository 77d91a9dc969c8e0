#pragma once
// Scheduling of threads: SetPatient() and GiveWay().

#include <pthread.h>
#include <sched.h>

namespace httpsys {

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

}  // namespace httpsys
