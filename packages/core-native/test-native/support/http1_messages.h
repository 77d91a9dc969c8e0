#pragma once
// Requests of HTTP/1.1 as text.

#include <cstddef>
#include <string>
#include <string_view>

namespace httpsys::test {

inline constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

// A POST that announces `length` bytes, and the first of them.
inline std::string Post(size_t length, std::string_view body) {
  return "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
         std::string(body);
}

// A POST whose body is chunked. `body` has the chunks as they are sent.
inline std::string Chunked(std::string_view body) {
  return "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(body);
}

}  // namespace httpsys::test
