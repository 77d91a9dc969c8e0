#pragma once

#include <cstdint>
#include <memory>

#include "win/operation.h"

namespace httpsys::win {

// The completion port for the calls of all request queues. Thread: any.
class CompletionPort {
 public:
  // A completed call; nullptr as its operation = Wake() was called.
  struct Completion {
    Operation* operation = nullptr;
    CallResult result;
  };

  // Opens a port. Returns nullptr, and sets the system's error code, on failure.
  static std::unique_ptr<CompletionPort> Open(uint32_t* error);
  CompletionPort& operator=(CompletionPort&&) = delete;
  ~CompletionPort();

  // Makes the calls of a handle complete at this port, unless they are completed at once. Returns
  // NO_ERROR or the system's error code.
  uint32_t Add(HANDLE handle);
  // Waits for a completion. Returns false if there was none within the timeout.
  bool Wait(uint32_t timeout_ms, Completion* completion);
  void Wake();

 private:
  explicit CompletionPort(HANDLE port) : port_(port) {}

  const HANDLE port_;
};

}  // namespace httpsys::win
