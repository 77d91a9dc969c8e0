#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/addresses.h"
#include "win/http_api.h"

namespace httpsys::win {

// A request of HTTP.SYS, translated for the records. The views point into the memory into which the
// request was received. HTTP.SYS does not tell the order of the lines, nor how known names were
// written. Thread: any, one at a time.
class IncomingRequest {
 public:
  explicit IncomingRequest(const http1::MethodTable* methods) : methods_(methods) {}

  // Reads a request. Returns false if JavaScript does not have its method.
  [[nodiscard]] bool Read(const HTTP_REQUEST& request);

  const http1::RequestHead& head() const { return head_; }
  std::string_view method() const { return method_; }
  std::string_view body() const { return body_; }
  // records::RequestFlags.
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
  bool has_upgrade_ = false;    // There is an Upgrade line.
  bool wants_upgrade_ = false;  // The Connection line names it.
};

engine::Addresses DescribeAddresses(const HTTP_REQUEST& request);
// Returns what a kOpen record says of TLS; empty without TLS.
std::string DescribeTls(const HTTP_REQUEST& request);
// Describes the certificate that a client has shown; `client` nullptr = none. Returns the result of
// the verification, and sets `certificates` as in kOpen.
long DescribeCertificate(const HTTP_SSL_CLIENT_CERT_INFO* client, std::string* certificates);

}  // namespace httpsys::win
