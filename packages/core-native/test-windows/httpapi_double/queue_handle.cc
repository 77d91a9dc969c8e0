#include "queue_handle.h"

#include "call.h"

// Of ntdll.dll; PostQueuedCompletionStatus() could tell of successes only.
extern "C" LONG NTAPI NtSetIoCompletion(HANDLE port, ULONG_PTR key, ULONG_PTR value, LONG status,
                                        SIZE_T bytes);

namespace httpapi_double {

QueueHandle::QueueHandle(QueueRef queue, bool is_controller)
    : value_(CreateEventW(nullptr, TRUE, FALSE, nullptr)),
      queue_(std::move(queue)),
      is_controller_(is_controller) {}

QueueHandle::~QueueHandle() {
  if (port_ != nullptr) CloseHandle(port_);
  CloseHandle(value_);
}

HANDLE QueueHandle::Associate(HANDLE port, ULONG_PTR key, DWORD threads) {
  if (port_ != nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return nullptr;
  }
  if (port == nullptr) port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, threads);
  if (port == nullptr) return nullptr;
  key_ = key;
  const HANDLE process = GetCurrentProcess();
  DuplicateHandle(process, port, process, &port_, 0, FALSE, DUPLICATE_SAME_ACCESS);
  return port;
}

bool QueueHandle::skips_port_on_success() const {
  return (modes_ & FILE_SKIP_COMPLETION_PORT_ON_SUCCESS) != 0;
}

void QueueHandle::RemovePending(const Call* call) {
  std::erase_if(pending_, [call](const CallRef& other) { return other.get() == call; });
}

bool QueueHandle::Cancel(const OVERLAPPED* overlapped) {
  bool is_any = false;
  for (const CallRef& call : std::vector(pending_)) {
    if (call->is_finished() || (overlapped != nullptr && call->overlapped() != overlapped))
      continue;
    call->Cancel();
    is_any = true;
  }
  return is_any;
}

void QueueHandle::Post(OVERLAPPED* overlapped, uint32_t status, uint32_t bytes) {
  // The low bit asks for the event alone.
  const auto event = reinterpret_cast<ULONG_PTR>(overlapped->hEvent);
  if (event != 0) SetEvent(reinterpret_cast<HANDLE>(event & ~ULONG_PTR{1}));
  if (port_ == nullptr || (event & 1) != 0) return;
  NtSetIoCompletion(port_, key_, reinterpret_cast<ULONG_PTR>(overlapped), static_cast<LONG>(status),
                    bytes);
}

}  // namespace httpapi_double
