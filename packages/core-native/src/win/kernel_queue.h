#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "win/http_api.h"

namespace httpsys::win {

enum class OperationKind : uint8_t { kReceive, kReceiveBody, kSend, kDisconnect };

// A call that the kernel completes later. It and the memory it names must stay until then.
struct Operation : OVERLAPPED {
  explicit Operation(OperationKind kind) : OVERLAPPED{}, kind(kind) {}

  // Before each use.
  OVERLAPPED* Reset() {
    static_cast<OVERLAPPED&>(*this) = OVERLAPPED{};
    return this;
  }

  const OperationKind kind;
};

// A call's result: NO_ERROR when it was done at once, which no completion follows;
// ERROR_IO_PENDING; or another error, which is final.
struct CallResult {
  uint32_t error = NO_ERROR;
  uint32_t bytes = 0;
};

// A request queue of the HTTP Server API, and the completion port of its overlapped calls.
// Thread: any; calls for one request one at a time.
class KernelQueue {
 public:
  // A completion that belongs to no call: Wake().
  struct Completion {
    Operation* operation = nullptr;
    CallResult result;
  };

  // nullptr and the system's error code on failure.
  static std::unique_ptr<KernelQueue> Open(uint32_t* error);
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;
  // Outstanding calls have completed.
  ~KernelQueue();

  HANDLE handle() const { return queue_; }

  // A new request, or (by its id) one that did not fit into the memory given before.
  CallResult Receive(HTTP_REQUEST_ID id, HTTP_REQUEST* memory, size_t bytes, Operation* operation);
  CallResult ReceiveBody(HTTP_REQUEST_ID id, std::span<char> memory, Operation* operation);
  CallResult SendHead(HTTP_REQUEST_ID id, ULONG flags, HTTP_RESPONSE* response,
                      Operation* operation);
  CallResult SendBody(HTTP_REQUEST_ID id, ULONG flags, std::span<HTTP_DATA_CHUNK> chunks,
                      Operation* operation);
  // Completes when the connection has ended.
  CallResult WaitForDisconnect(HTTP_CONNECTION_ID id, Operation* operation);
  // Resets the connection of a request.
  void Cancel(HTTP_REQUEST_ID id);
  // Makes all outstanding calls complete.
  void CancelAll();
  // The same for those that do not listen to that. Nothing else may be called any more.
  void Close();

  // False when nothing completed within that time.
  bool Wait(uint32_t timeout_ms, Completion* completion);
  // Ends a Wait().
  void Wake();

 private:
  KernelQueue() = default;

  HANDLE queue_ = nullptr;
  HANDLE port_ = nullptr;
};

}  // namespace httpsys::win
