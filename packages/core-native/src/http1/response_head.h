#pragma once
// Reads the head of a response that an application wrote as text, for backends that need its parts.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "http1/header_line.h"

namespace httpsys::http1 {

// The parsed head. Its views point into the parsed text.
struct ResponseHead {
  uint16_t status = 0;
  std::string_view reason;
  std::vector<HeaderLine> lines;

  // True for 1xx except 101: another head follows.
  bool is_interim() const { return status < 200 && status != 101; }
};

// Returns the length of the head at the beginning of the text, blank line included; 0 = incomplete.
size_t ResponseHeadBytes(std::string_view text);

// Parses a complete head. Returns false if it cannot be sent: another protocol, a status that is no
// number from 100 to 999, or bytes that are not allowed in names or values. Thread: any.
[[nodiscard]] bool ParseResponseHead(std::string_view text, ResponseHead* head);

}  // namespace httpsys::http1
