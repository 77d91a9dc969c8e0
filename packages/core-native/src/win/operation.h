#pragma once
// Overlapped calls of the HTTP Server API.

#include <cstdint>

#include "win/http_api.h"

namespace httpsys::win {

enum class OperationKind : uint8_t { kReceive, kReceiveBody, kSend, kDisconnect, kCertificate };

// A call that the kernel completes later; until then, it and its memory must stay valid.
struct Operation : OVERLAPPED {
  explicit Operation(OperationKind kind) : OVERLAPPED{}, kind(kind) {}

  // Clears the OVERLAPPED. Must be called before each use.
  OVERLAPPED* Reset() {
    static_cast<OVERLAPPED&>(*this) = OVERLAPPED{};
    return this;
  }

  const OperationKind kind;
};

// The result of a call: NO_ERROR if it is complete, without a later completion; ERROR_IO_PENDING if
// it will be completed later; any other error is final.
struct CallResult {
  uint32_t error = NO_ERROR;
  uint32_t bytes = 0;
};

}  // namespace httpsys::win
