#pragma once
// Turns the fields of one HTTP/2 field section into a request head (RFC 9113, section 8).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::http2 {

enum class FieldsStatus : uint8_t {
  kDone,
  kMalformed,      // The stream must be reset.
  kUnknownMethod,  // The answer is 400.
  kTooLarge,       // The answer is 431.
};

// Keeps copies of the fields. Repeats checks of nghttp2 only where HTTP/1.1 would give a field
// another, harmful meaning. Thread: any, one at a time.
class RequestFields {
 public:
  // Prepares for a new section. `bytes_max` counts as in http1::RequestParser; `lines_max` does not
  // count pseudo fields. ListBytesMax() and limits::kRequestLinesMax also limit the number of
  // lines, because one byte of a compressed section can be a whole field.
  void Reset(size_t bytes_max, size_t lines_max);
  // Returns the value of SETTINGS_MAX_HEADER_LIST_SIZE, which counts 32 more bytes for each field.
  static uint32_t ListBytesMax(size_t bytes_max);

  void Add(std::string_view name, std::string_view value);
  // Refuses the section of an answered request: further fields are counted, but not kept.
  void Refuse() { is_refused_ = is_too_large_ = true; }
  bool is_refused() const { return is_refused_; }
  // The bytes of all fields, kept or not: a small compressed block may expand to many bytes.
  size_t total_bytes() const { return total_bytes_; }

  // Makes the equivalent head of HTTP/1.1: Host from :authority, one Cookie line, and for an
  // extended CONNECT the lines of an upgrade.
  FieldsStatus Finish(const http1::MethodTable& methods, bool ends_stream);
  // The head, after kDone. Valid until Reset().
  const http1::RequestHead& head() const { return head_; }
  // Makes the lines of a trailer section. Returns false if it is malformed. Lines beyond the limit
  // are omitted.
  bool FinishTrailers(std::vector<http1::HeaderLine>* lines) const;

  // True for an extended CONNECT (RFC 8441). Valid after Finish().
  bool is_extended_connect() const { return !protocol_.bytes.empty(); }
  std::string_view authority() const { return authority_.bytes; }

 private:
  struct Line {
    size_t name_at = 0;
    size_t name_bytes = 0;
    size_t value_bytes = 0;
  };
  struct Pseudo {
    bool is_there = false;
    std::string bytes;
  };

  bool AddPseudo(std::string_view name, std::string_view value);
  http1::HeaderLine View(const Line& line) const;
  bool FindTarget(std::string_view* method);
  bool FillLines(bool ends_stream);
  bool AddLine(const http1::HeaderLine& line, bool* has_length);
  void JoinCookies();

  http1::RequestHead head_;
  std::string text_;
  std::vector<Line> lines_;
  std::string cookies_;
  Pseudo method_;
  Pseudo path_;
  Pseudo authority_;
  Pseudo protocol_;
  size_t bytes_max_ = 0;
  size_t lines_max_ = 0;
  size_t kept_bytes_ = 0;
  size_t total_bytes_ = 0;
  bool is_too_large_ = false;
  bool is_malformed_ = false;
  bool is_refused_ = false;
  bool has_cookie_ = false;
  bool has_host_line_ = false;
};

}  // namespace httpsys::http2
