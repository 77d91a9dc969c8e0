#pragma once
// Overlapped calls of the HTTP Server API.

#include <cstdint>

#include "win/http_api.h"

namespace httpsys::win {

enum class OperationKind : uint8_t { kReceive, kReceiveBody, kSend, kDisconnect, kCertificate };

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

}  // namespace httpsys::win
