#pragma once

#include <string>
#include <vector>

#include "win/kernel_queue.h"
#include "win/operation.h"

namespace httpsys::win {

struct KernelConnection;

// Requests a client's certificate: once per connection, by a renegotiation or after the handshake
// of TLS 1.3. Must stay alive until is_outstanding() is false. Thread: the lane.
class CertificateCall : public Operation {
 public:
  struct Answer {
    uint32_t error = NO_ERROR;  // NO_ERROR also if the client has no certificate.
    long verify_result = 0;     // OpenSSL's code, as in a kOpen record.
    std::string certificates;   // The client's certificates in the format of kOpen.
  };

  explicit CertificateCall(KernelConnection* connection)
      : Operation(OperationKind::kCertificate), connection(connection) {}

  KernelConnection* const connection;
  bool is_outstanding() const { return is_outstanding_; }
  // Starts the call. Returns false if the call was completed at once: the caller must then call
  // OnCompletion() with *result.
  bool Start(KernelQueue* queue, HTTP_CONNECTION_ID id, CallResult* result);
  // If the answer is complete, sets *answer and returns true. Returns false if the memory was too
  // small: Start() must be called again.
  bool OnCompletion(const CallResult& result, Answer* answer);

 private:
  std::vector<uint64_t> memory_;
  bool is_outstanding_ = false;
};

}  // namespace httpsys::win
