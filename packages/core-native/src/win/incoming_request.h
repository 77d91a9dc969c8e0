#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/addresses.h"
#include "win/http_api.h"

namespace httpsys::win {

// A request of HTTP.SYS, converted for records. The views point into the memory that received the
// request. The order of the lines and the original case of known names are unknown, because
// HTTP.SYS does not report them. Thread: any, one at a time.
class IncomingRequest {
 public:
  explicit IncomingRequest(const http1::MethodTable* methods) : methods_(methods) {}

  // Reads a request. Returns false if its method is not in JavaScript's table.
  [[nodiscard]] bool Read(const HTTP_REQUEST& request);

  const http1::RequestHead& head() const { return head_; }
  std::string_view method() const { return method_; }
  std::string_view body() const { return body_; }
  // The request's records::RequestFlags.
  uint32_t flags() const { return flags_; }
  // The length of the head as Node counts it for maxHeaderSize: target, names and values.
  size_t head_bytes() const { return head_bytes_; }
  bool has_more_body() const { return has_more_body_; }
  // True if the request is on a stream of HTTP/2 or 3.
  bool is_stream() const { return is_stream_; }

 private:
  void ReadLines(const HTTP_REQUEST_HEADERS& headers);
  void ReadBody(const HTTP_REQUEST& request);
  void OnLine(std::string_view name, std::string_view value);

  const http1::MethodTable* methods_;
  http1::RequestHead head_;
  std::string_view method_;
  std::string_view body_;
  uint32_t flags_ = 0;
  size_t head_bytes_ = 0;
  bool has_more_body_ = false;
  bool is_stream_ = false;
  bool has_upgrade_ = false;    // The request has an Upgrade line.
  bool wants_upgrade_ = false;  // The Connection line has the option "upgrade".
};

engine::Addresses DescribeAddresses(const HTTP_REQUEST& request);
// Returns the TLS facts for a kOpen record; empty without TLS.
std::string DescribeTls(const HTTP_REQUEST& request);
// Describes a client's certificate; `client` is nullptr if it has none. Returns the result of the
// verification, and sets `certificates` in the format of kOpen.
long DescribeCertificate(const HTTP_SSL_CLIENT_CERT_INFO* client, std::string* certificates);

}  // namespace httpsys::win
