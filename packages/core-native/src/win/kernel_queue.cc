#include "win/kernel_queue.h"

#include <algorithm>
#include <utility>

#include "win/wide_text.h"

namespace httpsys::win {
namespace {

// The largest queue length that the property accepts.
constexpr uint32_t kLengthMax = 0xffff;

uint32_t Create(const std::wstring& name, ULONG flags, HANDLE* queue) {
  const HTTPAPI_VERSION version = HTTPAPI_VERSION_2;
  return HttpCreateRequestQueue(version, name.empty() ? nullptr : name.c_str(), nullptr, flags,
                                queue);
}

}  // namespace

std::unique_ptr<KernelQueue> KernelQueue::Open(CompletionPort* port, const std::string& name,
                                               QueueMode mode, uint32_t* error) {
  std::unique_ptr<KernelQueue> queue(new KernelQueue);
  const std::wstring wide = Widen(name);
  *error = ERROR_ALREADY_EXISTS;
  if (mode != QueueMode::kAttach) *error = Create(wide, 0, &queue->queue_);
  if (*error == ERROR_ALREADY_EXISTS && mode != QueueMode::kCreate) {
    *error = Create(wide, HTTP_CREATE_REQUEST_QUEUE_FLAG_OPEN_EXISTING, &queue->queue_);
    queue->is_attached_ = true;
  }
  if (*error != NO_ERROR) {
    queue->queue_ = nullptr;
    return nullptr;
  }
  *error = port->Add(queue->queue_);
  return *error == NO_ERROR ? std::move(queue) : nullptr;
}

KernelQueue::~KernelQueue() { Close(); }

uint32_t KernelQueue::SetLength(uint32_t requests) {
  ULONG length = requests == 0 ? kLengthMax : std::min(requests, kLengthMax);
  return HttpSetRequestQueueProperty(queue_, HttpServerQueueLengthProperty, &length, sizeof length,
                                     0, nullptr);
}

uint32_t KernelQueue::SetVerbosity(Http503Verbosity verbosity) {
  // Both enumerations have the same values in the same order.
  static_assert(static_cast<int>(Http503Verbosity::kFull) == Http503ResponseVerbosityFull);
  auto value = static_cast<HTTP_503_RESPONSE_VERBOSITY>(verbosity);
  return HttpSetRequestQueueProperty(queue_, HttpServer503VerbosityProperty, &value, sizeof value,
                                     0, nullptr);
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
                                 HTTP_CACHE_POLICY* policy, HTTP_LOG_DATA* log,
                                 Operation* operation) {
  ULONG sent = 0;
  const ULONG error = HttpSendHttpResponse(queue_, id, flags, response, policy, &sent, nullptr, 0,
                                           operation->Reset(), log);
  return {error, sent};
}

CallResult KernelQueue::SendBody(HTTP_REQUEST_ID id, ULONG flags, std::span<HTTP_DATA_CHUNK> chunks,
                                 HTTP_LOG_DATA* log, Operation* operation) {
  ULONG sent = 0;
  const ULONG error = HttpSendResponseEntityBody(
      queue_, id, flags, static_cast<USHORT>(chunks.size()),
      chunks.empty() ? nullptr : chunks.data(), &sent, nullptr, 0, operation->Reset(), log);
  return {error, sent};
}

CallResult KernelQueue::WaitForDisconnect(HTTP_CONNECTION_ID id, Operation* operation) {
  return {HttpWaitForDisconnect(queue_, id, operation->Reset()), 0};
}

CallResult KernelQueue::ReceiveCertificate(HTTP_CONNECTION_ID id, std::span<uint64_t> memory,
                                           Operation* operation) {
  ULONG got = 0;
  const ULONG error = HttpReceiveClientCertificate(
      queue_, id, 0, reinterpret_cast<HTTP_SSL_CLIENT_CERT_INFO*>(memory.data()),
      static_cast<ULONG>(memory.size_bytes()), &got, operation->Reset());
  return {error, got};
}

void KernelQueue::Cancel(HTTP_REQUEST_ID id) { HttpCancelHttpRequest(queue_, id, nullptr); }

void KernelQueue::CancelCall(Operation* operation) { CancelIoEx(queue_, operation); }

void KernelQueue::CancelAll() { CancelIoEx(queue_, nullptr); }

uint32_t KernelQueue::FlushCache(const std::string& url, bool is_recursive) {
  const ULONG flags = is_recursive ? HTTP_FLUSH_RESPONSE_FLAG_RECURSIVE : 0;
  return HttpFlushResponseCache(queue_, Widen(url).c_str(), flags, nullptr);
}

void KernelQueue::Shutdown() {
  if (queue_ == nullptr || IsCoreOnly() || std::exchange(is_shut_down_, true)) return;
  HttpShutdownRequestQueue(queue_);
}

void KernelQueue::Close() {
  Shutdown();
  if (queue_ != nullptr) HttpCloseRequestQueue(queue_);
  queue_ = nullptr;
}

}  // namespace httpsys::win
