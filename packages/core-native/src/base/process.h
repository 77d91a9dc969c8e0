#pragma once
// State of the whole process or of a whole thread. No other file reads the environment, registers
// exit functions or has a global variable (tools/check-layers.js), because a process may serve
// several applications, and global state would belong to none of them.

#include <cstdlib>

namespace httpsys {

// Returns the process's only T, made by the first call and never destroyed: threads that run until
// the end of the process may use it. Thread: any.
template <typename T>
T& OfProcess() {
  static T* const it = new T();
  return *it;
}

// Returns the calling thread's only T. Destroyed with the thread, if T has a destructor.
template <typename T>
T& OfThread() {
  thread_local constinit T it{};
  return it;
}

// Returns the value of an environment variable, or nullptr.
inline const char* EnvironmentVariable(const char* name) { return std::getenv(name); }

// Registers a function that runs when the process exits. Returns false if that fails.
inline bool AtExit(void (*function)()) { return std::atexit(function) == 0; }

}  // namespace httpsys
