#pragma once
// A line of the error log.

#include <cstdint>
#include <string_view>

#include "records/addresses.h"

namespace httpsys::engine {

// The fields of the line about one refused request. The views must be valid while the line is
// written.
struct LogRecord {
  // The connection's descriptor. Its addresses are read from the kernel unless `addresses` has
  // them.
  int fd = -1;
  const Addresses* addresses = nullptr;
  int version_major = 1;
  int version_minor = -1;   // Negative = unknown.
  std::string_view method;  // Empty = unknown.
  std::string_view target;  // Empty = unknown.
  std::string_view reason;  // HTTP.SYS's reason phrase.
  int status = 0;           // 0 = nothing was sent.
  uint32_t server_id = 0;
};

}  // namespace httpsys::engine
