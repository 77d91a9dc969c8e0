#pragma once

#include <pthread.h>

namespace httpsys {

// Names the calling thread for debuggers and `top`: at most 15 characters.
inline void SetThreadName([[maybe_unused]] const char* name) {
#ifdef __linux__
  pthread_setname_np(pthread_self(), name);
#elif defined(__APPLE__)
  pthread_setname_np(name);
#endif
}

}  // namespace httpsys
