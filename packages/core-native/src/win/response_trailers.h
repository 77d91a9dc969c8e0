#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http1/header_line.h"
#include "win/http_api.h"

namespace httpsys::win {

// The trailer section of a response of HTTP/2 or 3, passed as the last chunk of its body. Must stay
// alive until the call has completed. Thread: any, one at a time.
class ResponseTrailers {
 public:
  // Reads whole lines, except those about the connection. Returns false if no line can be sent.
  [[nodiscard]] bool Read(std::string_view text);

  HTTP_DATA_CHUNK chunk();

 private:
  std::string text_;
  std::vector<http1::HeaderLine> lines_;
  std::vector<HTTP_UNKNOWN_HEADER> fields_;
};

}  // namespace httpsys::win
