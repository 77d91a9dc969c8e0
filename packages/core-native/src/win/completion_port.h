#pragma once

#include <cstdint>
#include <memory>

#include "win/operation.h"

namespace httpsys::win {

// Where the calls of all request queues complete. Thread: any.
class CompletionPort {
 public:
  // A completion without an operation belongs to no call: Wake().
  struct Completion {
    Operation* operation = nullptr;
    CallResult result;
  };

  // nullptr and the system's error code on failure.
  static std::unique_ptr<CompletionPort> Open(uint32_t* error);
  CompletionPort(const CompletionPort&) = delete;
  CompletionPort& operator=(const CompletionPort&) = delete;
  ~CompletionPort();

  // Calls of the handle complete here, unless they are done at once. NO_ERROR or the system's code.
  uint32_t Add(HANDLE handle);
  // False when nothing completed within that time.
  bool Wait(uint32_t timeout_ms, Completion* completion);
  // Ends a Wait().
  void Wake();

 private:
  explicit CompletionPort(HANDLE port) : port_(port) {}

  const HANDLE port_;
};

}  // namespace httpsys::win
