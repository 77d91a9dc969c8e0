#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/backend.h"
#include "win/completion_port.h"
#include "win/operation.h"

namespace httpsys::win {

// A request queue of the HTTP Server API. Thread: any, but one at a time for each request.
class KernelQueue {
 public:
  // Opens a queue. With a name, other processes may receive requests from it; if a queue with that
  // name exists, `mode` decides whether it is opened or refused. On failure, returns nullptr and
  // sets the system's error code.
  static std::unique_ptr<KernelQueue> Open(CompletionPort* port, const std::string& name,
                                           QueueMode mode, uint32_t* error);
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;
  // Must not be called before all calls have completed.
  ~KernelQueue();

  HANDLE handle() const { return queue_; }
  // True if another process has made the queue: its URLs and properties belong to that process.
  bool is_attached() const { return is_attached_; }

  // -- Properties. Each method returns NO_ERROR or the system's error code.

  uint32_t SetLength(uint32_t requests);
  uint32_t SetVerbosity(Http503Verbosity verbosity);

  // -- Calls.

  // Receives a new request or, by its id, one that did not fit into the memory of an earlier call.
  CallResult Receive(HTTP_REQUEST_ID id, HTTP_REQUEST* memory, size_t bytes, Operation* operation);
  CallResult ReceiveBody(HTTP_REQUEST_ID id, std::span<char> memory, Operation* operation);
  // `policy` and `log` may be nullptr.
  CallResult SendHead(HTTP_REQUEST_ID id, ULONG flags, HTTP_RESPONSE* response,
                      HTTP_CACHE_POLICY* policy, HTTP_LOG_DATA* log, Operation* operation);
  CallResult SendBody(HTTP_REQUEST_ID id, ULONG flags, std::span<HTTP_DATA_CHUNK> chunks,
                      HTTP_LOG_DATA* log, Operation* operation);
  // Waits until the connection has ended.
  CallResult WaitForDisconnect(HTTP_CONNECTION_ID id, Operation* operation);
  // Requests a client's certificate. The resulting HTTP_SSL_CLIENT_CERT_INFO points into `memory`.
  CallResult ReceiveCertificate(HTTP_CONNECTION_ID id, std::span<uint64_t> memory,
                                Operation* operation);
  // Resets the connection of a request.
  void Cancel(HTTP_REQUEST_ID id);
  // Cancel one call, or all calls. Cancelled calls complete with an error.
  void CancelCall(Operation* operation);
  void CancelAll();
  // Removes cached responses for a URL, or for all below it. Returns NO_ERROR or an error code.
  uint32_t FlushCache(const std::string& url, bool is_recursive);
  // Stops receiving requests in this process; other processes get the requests that wait in a
  // shared queue. Outstanding calls end, and received requests are cancelled unless their responses
  // have begun. Idempotent. Does nothing in Wine's mode (IsCoreOnly()).
  void Shutdown();
  // Calls Shutdown() and closes the handle, which also ends calls that ignore CancelAll(). No
  // method may be called afterwards.
  void Close();

 private:
  KernelQueue() = default;

  HANDLE queue_ = nullptr;
  bool is_attached_ = false;
  bool is_shut_down_ = false;
};

}  // namespace httpsys::win
