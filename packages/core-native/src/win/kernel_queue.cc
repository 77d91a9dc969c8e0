#include "win/kernel_queue.h"

namespace httpsys::win {

std::unique_ptr<KernelQueue> KernelQueue::Open(uint32_t* error) {
  std::unique_ptr<KernelQueue> queue(new KernelQueue);
  const HTTPAPI_VERSION version = HTTPAPI_VERSION_2;
  *error = HttpCreateRequestQueue(version, nullptr, nullptr, 0, &queue->queue_);
  if (*error != NO_ERROR) {
    queue->queue_ = nullptr;
    return nullptr;
  }
  queue->port_ = CreateIoCompletionPort(queue->queue_, nullptr, 0, 1);
  if (queue->port_ == nullptr || SetFileCompletionNotificationModes(
                                     queue->queue_, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS) == 0) {
    *error = GetLastError();
    return nullptr;
  }
  return queue;
}

KernelQueue::~KernelQueue() {
  Close();
  if (port_ != nullptr) CloseHandle(port_);
}

CallResult KernelQueue::Receive(HTTP_REQUEST_ID id, HTTP_REQUEST* memory, size_t bytes,
                                Operation* operation) {
  ULONG got = 0;
  const ULONG error =
      HttpReceiveHttpRequest(queue_, id, HTTP_RECEIVE_REQUEST_FLAG_COPY_BODY, memory,
                             static_cast<ULONG>(bytes), &got, operation->Reset());
  return {error, got};
}

CallResult KernelQueue::ReceiveBody(HTTP_REQUEST_ID id, std::span<char> memory,
                                    Operation* operation) {
  ULONG got = 0;
  const ULONG error = HttpReceiveRequestEntityBody(
      queue_, id, 0, memory.data(), static_cast<ULONG>(memory.size()), &got, operation->Reset());
  return {error, got};
}

CallResult KernelQueue::SendHead(HTTP_REQUEST_ID id, ULONG flags, HTTP_RESPONSE* response,
                                 Operation* operation) {
  ULONG sent = 0;
  const ULONG error = HttpSendHttpResponse(queue_, id, flags, response, nullptr, &sent, nullptr, 0,
                                           operation->Reset(), nullptr);
  return {error, sent};
}

CallResult KernelQueue::SendBody(HTTP_REQUEST_ID id, ULONG flags, std::span<HTTP_DATA_CHUNK> chunks,
                                 Operation* operation) {
  ULONG sent = 0;
  const ULONG error = HttpSendResponseEntityBody(
      queue_, id, flags, static_cast<USHORT>(chunks.size()),
      chunks.empty() ? nullptr : chunks.data(), &sent, nullptr, 0, operation->Reset(), nullptr);
  return {error, sent};
}

CallResult KernelQueue::WaitForDisconnect(HTTP_CONNECTION_ID id, Operation* operation) {
  return {HttpWaitForDisconnect(queue_, id, operation->Reset()), 0};
}

void KernelQueue::Cancel(HTTP_REQUEST_ID id) { HttpCancelHttpRequest(queue_, id, nullptr); }

void KernelQueue::CancelAll() { CancelIoEx(queue_, nullptr); }

void KernelQueue::Close() {
  if (queue_ != nullptr) HttpCloseRequestQueue(queue_);
  queue_ = nullptr;
}

bool KernelQueue::Wait(uint32_t timeout_ms, Completion* completion) {
  DWORD bytes = 0;
  ULONG_PTR key = 0;
  OVERLAPPED* overlapped = nullptr;
  const BOOL is_success = GetQueuedCompletionStatus(port_, &bytes, &key, &overlapped, timeout_ms);
  if (is_success == 0 && overlapped == nullptr) return false;
  completion->operation = static_cast<Operation*>(overlapped);
  completion->result = {is_success != 0 ? NO_ERROR : GetLastError(), bytes};
  return true;
}

void KernelQueue::Wake() { PostQueuedCompletionStatus(port_, 0, 0, nullptr); }

}  // namespace httpsys::win
