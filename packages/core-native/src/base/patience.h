#pragma once
// How eagerly a thread runs.

#include <pthread.h>
#include <sched.h>

namespace httpsys {

// A patient thread that gets something to do does not interrupt whoever runs on the only free CPU:
// meanwhile more comes for it. Without effect where systems do not know this, or where somebody has
// chosen how the process runs. Thread: the one that it is about.
inline void SetPatient([[maybe_unused]] bool is_patient) {
#ifdef SCHED_BATCH
  int policy = 0;
  sched_param parameters{};
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0) return;
  if (policy != (is_patient ? SCHED_OTHER : SCHED_BATCH)) return;
  pthread_setschedparam(pthread_self(), is_patient ? SCHED_BATCH : SCHED_OTHER, &parameters);
#endif
}

// Lets whoever waits for this CPU run first. Thread: any.
inline void GiveWay() { sched_yield(); }

}  // namespace httpsys
