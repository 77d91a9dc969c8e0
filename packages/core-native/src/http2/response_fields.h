#pragma once
// Turns an HTTP/1.1 response head into HTTP/2 fields.

#include <string>
#include <string_view>
#include <vector>

#include "http1/header_line.h"
#include "http2/nghttp2_api.h"

namespace httpsys::http2 {

// The fields of one head or trailer section; reused for the next one. Thread: any, one at a time.
class ResponseFields {
 public:
  // Sets the fields: names in lower case, and no lines about the connection (RFC 9113, section
  // 8.2.2). The fields point into the lines and into this object.
  void Fill(int status, const std::vector<http1::HeaderLine>& lines);
  // Sets the fields of the answer to an extended CONNECT: a 101 without its key becomes a 200.
  void FillAccept(const std::vector<http1::HeaderLine>& lines);
  void FillTrailers(const std::vector<http1::HeaderLine>& lines);

  // True if the lines say `Connection: close`.
  bool closes() const { return closes_; }

  const NgField* data() const { return fields_.data(); }
  size_t size() const { return fields_.size(); }

 private:
  void Begin(const std::vector<http1::HeaderLine>& lines);
  void AddStatus(int status);
  void AddLines(const std::vector<http1::HeaderLine>& lines, bool is_accept);
  void Add(std::string_view name, std::string_view value);
  bool IsNominated(std::string_view lower_name) const;

  std::vector<NgField> fields_;
  std::string names_;
  std::vector<std::string_view> nominated_;
  char status_[3];
  bool closes_ = false;
};

}  // namespace httpsys::http2
