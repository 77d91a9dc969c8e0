#pragma once
// Parses the head of an HTTP/1.x request (RFC 9112, sections 2 to 5), as strictly as Node's llhttp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http1/field_scanner.h"
#include "http1/header_line.h"
#include "http1/method_table.h"
#include "http1/parse_error.h"
#include "http1/target_scanner.h"

namespace httpsys::http1 {

enum class BodyKind : uint8_t { kNone, kLength, kChunked };
enum class Expectation : uint8_t { kNone, kContinue, kOther };

// The parsed head. Its views point into the buffer of the last Parse() call.
struct RequestHead {
  uint16_t method = 0;              // Index into the MethodTable.
  uint8_t version_minor = 1;        // HTTP/1.x
  BodyKind body = BodyKind::kNone;  // kNone for CONNECT, even if its fields name a length.
  Expectation expect = Expectation::kNone;
  bool keep_alive = true;   // Keep the connection open: the result of llhttp_should_keep_alive().
  bool upgrade = false;     // `Connection: upgrade` with an Upgrade line, or CONNECT.
  bool is_connect = false;  // CONNECT, whose target is a host and a port.
  bool has_host = false;
  bool repeats_host = false;  // More than one Host line; HostOf() treats that as an error.
  uint64_t content_length = 0;
  std::string_view target;
  std::string_view host;  // The value of the first Host line.
  std::vector<HeaderLine> lines;

  // True unless the head shows that the body is empty. A client of HTTP/2 may announce an empty
  // body.
  bool has_body() const { return body == BodyKind::kChunked || content_length != 0; }
};

enum class ParseStatus : uint8_t { kNeedMore, kDone, kError };

// A resumable parser: each call gets the message from its first byte on, and continues where the
// last call has stopped. So the work is linear in the number of bytes, however they arrive. Errors
// are found at the byte that makes them certain. No I/O, no clock. Thread: any, one at a time.
class RequestParser {
 public:
  explicit RequestParser(const MethodTable* methods) : methods_(methods) {}

  // Prepares for a new message. `header_bytes_max` counts like Node's maxHeaderSize: target, names
  // and values (with the white space after them) must be shorter. kPaddingBytesMax limits the rest.
  void Reset(size_t header_bytes_max, size_t lines_max = kAnyLines);

  // Continues to parse. `message` must have all bytes of the message received so far.
  [[nodiscard]] ParseStatus Parse(std::string_view message);

  // True if the last Reset() had these limits.
  bool HasLimits(size_t header_bytes_max, size_t lines_max) const {
    return remembered_bytes_max_ == header_bytes_max && remembered_lines_max_ == lines_max;
  }
  // Returns the result of the last Parse() again, after the bytes have moved to `message`. Must not
  // be called after kNeedMore.
  ParseStatus View(std::string_view message) {
    if (status_ == ParseStatus::kDone) FillHead(message);
    return status_;
  }

  // Does the work of Reset() and Parse() if the message begins with the remembered head and the
  // limits are the same, and returns true; otherwise changes nothing and returns false. Clients
  // that send many requests at once mostly send identical heads.
  [[nodiscard]] bool Repeat(std::string_view message, size_t header_bytes_max, size_t lines_max) {
    if (remembered_.empty()) return false;
    const bool is_same = message.starts_with(remembered_) &&
                         remembered_bytes_max_ == header_bytes_max &&
                         remembered_lines_max_ == lines_max;
    if (is_same) FillHead(message);
    return is_same;
  }
  // Remembers the head for Repeat(). Must be called after kDone, with the message of the last
  // Parse(). The bytes after a head do not matter.
  void Remember(std::string_view message);

  // A number that the owner of the parser assigns to the head after Parse(); Repeat() keeps it.
  uint64_t number() const { return number_; }
  void set_number(uint64_t number) { number_ = number; }

  // The result of the last Parse(); kNeedMore after Reset().
  ParseStatus status() const { return status_; }
  // The head, after kDone. Valid until the buffer changes or Reset() is called.
  const RequestHead& head() const { return head_; }
  // The length of the head, blank line included. Valid after kDone.
  size_t head_bytes() const { return position_; }
  // The reason of the refusal. Valid after kError.
  ParseError error() const { return error_; }
  // True once a byte of the message was seen, except ignored leading CRLFs.
  bool started() const { return started_; }

 private:
  enum class Phase : uint8_t {
    kLeadingLineEnds,
    kMethod,
    kSpaceBeforeTarget,
    kTarget,
    kSpaceBeforeVersion,
    kVersion,
    kFirstLine,
    kLines,
  };

  ParseStatus Fail(ParseError error);
  ParseError Step(std::string_view message);
  ParseError ScanMethod(std::string_view message);
  void BeginTarget(int method, size_t bytes);
  ParseError ScanTarget(std::string_view message);
  ParseError ScanVersion(std::string_view message);
  bool SkipPadding(std::string_view message, char first, char second);
  void FillHead(std::string_view message);

  const MethodTable* methods_;
  RequestHead head_;
  uint64_t number_ = 0;
  std::string remembered_;  // The head for Repeat(); empty = none.
  size_t remembered_bytes_max_ = 0;
  size_t remembered_lines_max_ = 0;
  FieldScanner fields_;
  HeadBudget budget_;
  TargetScanner target_;
  size_t position_ = 0;
  size_t target_begin_ = 0;
  size_t target_bytes_ = 0;
  Phase phase_ = Phase::kLeadingLineEnds;
  ParseError error_ = ParseError::kNone;
  ParseStatus status_ = ParseStatus::kNeedMore;
  bool started_ = false;
};

}  // namespace httpsys::http1
