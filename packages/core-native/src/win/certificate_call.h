#pragma once

#include <string>
#include <vector>

#include "win/kernel_queue.h"
#include "win/operation.h"

namespace httpsys::win {

struct KernelConnection;

// Asks the client of a connection for its certificate, which HTTP.SYS does once per connection: by
// a renegotiation, or after the handshake of TLS 1.3. Thread: the lane. It must stay until
// is_outstanding() is false.
class CertificateCall : public Operation {
 public:
  struct Answer {
    uint32_t error = NO_ERROR;  // Also without a certificate.
    long verify_result = 0;     // Of OpenSSL, as kOpen has it.
    std::string certificates;   // As kOpen has them.
  };

  explicit CertificateCall(KernelConnection* connection)
      : Operation(OperationKind::kCertificate), connection(connection) {}

  KernelConnection* const connection;
  bool is_outstanding() const { return is_outstanding_; }
  // False: it was done at once, and OnCompletion() is to be called with *result.
  bool Start(KernelQueue* queue, HTTP_CONNECTION_ID id, CallResult* result);
  // True: *answer is there. False: it did not fit, and Start() has to be called again.
  bool OnCompletion(const CallResult& result, Answer* answer);

 private:
  std::vector<uint64_t> memory_;
  bool is_outstanding_ = false;
};

}  // namespace httpsys::win
