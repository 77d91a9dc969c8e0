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

// A request queue of the HTTP Server API. Thread: any; calls for one request one at a time.
class KernelQueue {
 public:
  // With a name other processes may take requests from the same queue; one that is there already is
  // opened, or refused, as the mode says. nullptr and the system's error code on failure.
  static std::unique_ptr<KernelQueue> Open(CompletionPort* port, const std::string& name,
                                           QueueMode mode, uint32_t* error);
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;
  // Outstanding calls have completed.
  ~KernelQueue();

  HANDLE handle() const { return queue_; }
  // Somebody else made it: its URLs and properties are theirs.
  bool is_attached() const { return is_attached_; }

  // -- Properties. NO_ERROR or the system's error code.

  uint32_t SetLength(uint32_t requests);
  uint32_t SetVerbosity(Verbosity503 verbosity);

  // -- Calls.

  // A new request, or (by its id) one that did not fit into the memory given before.
  CallResult Receive(HTTP_REQUEST_ID id, HTTP_REQUEST* memory, size_t bytes, Operation* operation);
  CallResult ReceiveBody(HTTP_REQUEST_ID id, std::span<char> memory, Operation* operation);
  // `policy` and `log` may be nullptr.
  CallResult SendHead(HTTP_REQUEST_ID id, ULONG flags, HTTP_RESPONSE* response,
                      HTTP_CACHE_POLICY* policy, HTTP_LOG_DATA* log, Operation* operation);
  CallResult SendBody(HTTP_REQUEST_ID id, ULONG flags, std::span<HTTP_DATA_CHUNK> chunks,
                      HTTP_LOG_DATA* log, Operation* operation);
  // Completes when the connection has ended.
  CallResult WaitForDisconnect(HTTP_CONNECTION_ID id, Operation* operation);
  // What the client of a connection shows when it is asked for a certificate: an
  // HTTP_SSL_CLIENT_CERT_INFO, whose pointers are into `memory`.
  CallResult ReceiveCertificate(HTTP_CONNECTION_ID id, std::span<uint64_t> memory,
                                Operation* operation);
  // Resets the connection of a request.
  void Cancel(HTTP_REQUEST_ID id);
  // Makes one call complete, or all.
  void CancelCall(Operation* operation);
  void CancelAll();
  // Removes what was cached for a URL, or for all below it.
  uint32_t FlushCache(const std::string& url, bool is_recursive);
  // This process takes no further requests: those that wait in a queue that others have are given
  // to them. Calls for requests end, those that were taken are cancelled unless their responses
  // have begun. Idempotent; nothing where only Wine's functions are called.
  void Shutdown();
  // Shutdown(), and the end of the handle: also of calls that do not listen to CancelAll(). Nothing
  // may be called any more.
  void Close();

 private:
  KernelQueue() = default;

  HANDLE queue_ = nullptr;
  bool is_attached_ = false;
  bool is_shut_down_ = false;
};

}  // namespace httpsys::win
