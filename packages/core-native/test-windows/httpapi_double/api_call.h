#pragma once

#include <mutex>

#include "call.h"
#include "interception.h"
#include "kernel.h"
#include "queue_handle.h"

namespace httpapi_double {

// What every exported function begins with: it is counted, and fails where a
// fault is planned.

// One that does its work at once: `body(kernel)` is its result.
template <typename Body>
ULONG Do(const char* function, Body body) {
  Kernel& kernel = Kernel::Get();
  const std::lock_guard lock(kernel.mutex);
  kernel.ledger.Count(function);
  if (const FaultPlan::Fault fault = kernel.faults.Take(function); fault.code != 0) {
    return fault.code;
  }
  return body(kernel);
}

// One for a queue's handle that may end later: `start(kernel, handle, call)`
// ends the call or keeps it.
template <typename Start>
ULONG Begin(const char* function, HANDLE queue, OVERLAPPED* overlapped, ULONG* bytes, Start start) {
  Kernel& kernel = Kernel::Get();
  std::unique_lock lock(kernel.mutex);
  kernel.ledger.Count(function);
  const FaultPlan::Fault fault = kernel.faults.Take(function);
  if (fault.code != 0 && !fault.is_late) return fault.code;
  const HandleRef handle = kernel.FindHandle(queue);
  if (handle == nullptr) return ERROR_INVALID_HANDLE;
  const auto call = std::make_shared<Call>(handle, overlapped, bytes);
  if (fault.code != 0) {
    kernel.After(1, [call, code = fault.code] { call->Finish(code); });
  } else {
    start(kernel, handle, call);
  }
  return call->Return(lock);
}

}  // namespace httpapi_double
