// Names of threads on all other systems, such as macOS.

#include <pthread.h>

#include "base/thread_name.h"

namespace httpsys {

void SetThreadName(const char* name) { pthread_setname_np(name); }

}  // namespace httpsys
