#pragma once
// Reads the head of a response that an application wrote as text, for a backend that has to be told
// its parts.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "http1/header_line.h"

namespace httpsys::http1 {

// Views point into the text.
struct ResponseHead {
  uint16_t status = 0;
  std::string_view reason;
  std::vector<HeaderLine> lines;

  // 1xx but 101: another head follows.
  bool is_interim() const { return status < 200 && status != 101; }
};

// Length of the head that the text begins with, blank line included; 0 when its end is not there
// yet.
size_t ResponseHeadBytes(std::string_view text);

// `text` is a whole head. False when it is none that may be sent: another protocol, a status that
// is no number from 100 to 999, bytes that no name or value may have. Thread: any.
[[nodiscard]] bool ParseResponseHead(std::string_view text, ResponseHead* head);

}  // namespace httpsys::http1
