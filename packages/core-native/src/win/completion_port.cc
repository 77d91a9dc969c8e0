#include "win/completion_port.h"

namespace httpsys::win {

std::unique_ptr<CompletionPort> CompletionPort::Open(uint32_t* error) {
  const HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1);
  *error = port == nullptr ? GetLastError() : NO_ERROR;
  if (port == nullptr) return nullptr;
  return std::unique_ptr<CompletionPort>(new CompletionPort(port));
}

CompletionPort::~CompletionPort() { CloseHandle(port_); }

uint32_t CompletionPort::Add(HANDLE handle) {
  if (CreateIoCompletionPort(handle, port_, 0, 0) == nullptr ||
      SetFileCompletionNotificationModes(handle, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS) == 0) {
    return GetLastError();
  }
  return NO_ERROR;
}

bool CompletionPort::Wait(uint32_t timeout_ms, Completion* completion) {
  DWORD bytes = 0;
  ULONG_PTR key = 0;
  OVERLAPPED* overlapped = nullptr;
  const BOOL is_success = GetQueuedCompletionStatus(port_, &bytes, &key, &overlapped, timeout_ms);
  if (is_success == 0 && overlapped == nullptr) return false;
  completion->operation = static_cast<Operation*>(overlapped);
  completion->result = {is_success != 0 ? NO_ERROR : GetLastError(), bytes};
  return true;
}

void CompletionPort::Wake() { PostQueuedCompletionStatus(port_, 0, 0, nullptr); }

}  // namespace httpsys::win
