// Names of threads on Linux.

#include <pthread.h>

#include "base/thread_name.h"

namespace httpsys {

void SetThreadName(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace httpsys
