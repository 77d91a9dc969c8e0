#pragma once
// What belongs to the process or to a thread as a whole. No other file reads the environment,
// registers what runs at the exit, or has a variable that is no object's (tools/check-layers.js):
// in a process that serves several applications, such state is nobody's own.

#include <cstdlib>

namespace httpsys {

// The process's only T. Made by the first call, and never destroyed: threads that run until the
// very end may use it. Thread: any.
template <typename T>
T& OfProcess() {
  static T* const it = new T();
  return *it;
}

// The thread's only T. Destroyed with the thread, if T has a destructor.
template <typename T>
T& OfThread() {
  thread_local constinit T it{};
  return it;
}

// The value of an environment variable, or nullptr.
inline const char* EnvironmentVariable(const char* name) { return std::getenv(name); }

// Makes the process call a function when it exits. Returns false if that is not possible.
inline bool AtExit(void (*function)()) { return std::atexit(function) == 0; }

}  // namespace httpsys
