#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace httpapi_double {

// The head of a request: its parts, and what they mean for the connection.
struct RequestHead {
  std::string method;
  std::string target;  // As it was sent.
  int version_minor = 1;
  std::vector<std::pair<std::string, std::string>> lines;

  // Without the port; in lower case.
  std::string host;
  std::string host_line;  // With it.
  std::string path;       // Without the query; percent-encoded.
  std::string query;      // With its question mark.
  bool keep_alive = true;
  bool is_chunked = false;
  bool expects_continue = false;
  uint64_t content_length = 0;
  bool has_content_length = false;

  // The values of all lines of that name, joined; "" when there is none.
  std::string Value(std::string_view name) const;
  bool Has(std::string_view name) const;
};

// `text` up to and without the empty line. False: 400.
bool ParseHead(std::string_view text, RequestHead* head);

}  // namespace httpapi_double
