#pragma once
// How eagerly a thread runs.

#include <pthread.h>
#include <sched.h>

namespace httpsys {

// Makes the calling thread patient, or not. A patient thread that gets work does not interrupt the
// thread that runs on the only free CPU: meanwhile more work arrives for it. Has no effect on
// systems without this, or if somebody has chosen a scheduling policy for the process.
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
