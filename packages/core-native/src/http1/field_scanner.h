#pragma once
// Scans field lines up to and including the blank line: the header section of a request and the
// trailer section of a chunked body (RFC 9112, sections 5 and 7.1.2), as strictly as Node's llhttp.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "http1/field_rules.h"
#include "http1/header_line.h"
#include "http1/parse_error.h"

namespace httpsys::http1 {

// Maximum white space of a head that does not count in its size: line ends before a request, spaces
// in the request line, and spaces before values. Without a limit, as in Node, a client could make
// one head grow endlessly. Equal to Node's default limit for the counted bytes.
inline constexpr size_t kPaddingBytesMax = 16 * 1024;

// Upper bound of header limits, 256 MiB. Offsets in a head have 32 bits, and a name of one byte
// takes five bytes in a head.
inline constexpr size_t kHeaderBytesCeiling = size_t{256} << 20;

// Value of `lines_max` for no limit of the number of lines, only of their bytes.
inline constexpr size_t kAnyLines = SIZE_MAX;

// The bytes and lines that a section of a message may still use.
struct HeadBudget {
  // The section must stay below this number of bytes (target, names and values).
  size_t counted_bytes = 0;
  size_t padding_bytes = kPaddingBytesMax;
  size_t lines_max = kAnyLines;  // The number of lines in the whole section.

  // Returns true if `bytes` more are allowed. As in Node, reaching the limit is not allowed.
  bool Fits(size_t bytes) const { return bytes < counted_bytes; }
  bool Take(size_t bytes) {
    if (!Fits(bytes)) return false;
    counted_bytes -= bytes;
    return true;
  }
  bool TakePadding(size_t bytes) {
    if (bytes > padding_bytes) return false;
    padding_bytes -= bytes;
    return true;
  }
};

enum class Section : uint8_t { kHead, kTrailers };

// Resumable at every byte; linear in the number of bytes. The text may move in memory between
// calls. Thread: any, one at a time.
class FieldScanner {
 public:
  enum class Status : uint8_t { kNeedMore, kDone, kError };

  // Prepares for a section that begins at `position` of the text of Scan().
  void Reset(Section section, size_t position, HeadBudget budget);

  // Continues to scan. `text` must have all bytes received so far. After kDone or kError, Reset()
  // must be called before the next call.
  [[nodiscard]] Status Scan(std::string_view text);

  // The end of the section, blank line included. Valid after kDone.
  size_t position() const { return position_; }
  ParseError error() const { return error_; }

  // The number of lines. Valid after kDone.
  size_t line_count() const { return lines_.size(); }
  // Returns a line as views into `text`, which must be the text of the last Scan().
  HeaderLine Line(std::string_view text, size_t index) const {
    const LineOffsets& line = lines_[index];
    return {{text.data() + line.name, line.name_bytes},
            {text.data() + line.value, line.value_bytes}};
  }
  uint64_t content_length() const { return content_length_; }
  bool is_chunked() const { return is_chunked_; }
  bool has_upgrade() const { return has_upgrade_; }
  bool has_expect() const { return has_expect_; }
  bool expects_continue() const { return expects_continue_; }
  const ConnectionOptions& connection() const { return connection_; }
  // Index of the first Host line, or -1.
  int host_line() const { return host_line_; }
  bool repeats_host() const { return repeats_host_; }

 private:
  enum class Phase : uint8_t {
    kLineStart,
    kName,
    kSpaceBeforeValue,
    kValue,
    kLineFeed,
    kLineFeedAfterEmpty,
    kBehindEmptyLength,
    kLastLineFeed,
  };

  // Offsets, because the text may move between calls. 32 bits suffice: heads are below 4 GiB.
  struct LineOffsets {
    uint32_t name;
    uint32_t name_bytes;
    uint32_t value;
    uint32_t value_bytes;
  };

  ParseError EndName(std::string_view name);
  ParseError BeginValue() const;
  ParseError CheckPartialValue(std::string_view value) const;
  ParseError EndValue(std::string_view value);
  void KeepLine(std::string_view text, size_t value_end);
  bool SkipSpace(std::string_view text);
  ParseError ScanName(std::string_view text);
  ParseError ScanValue(std::string_view text);
  ParseError Step(std::string_view text);
  bool TakeCommonLines(std::string_view text);

  std::vector<LineOffsets> lines_;
  HeadBudget budget_;
  size_t position_ = 0;
  size_t span_begin_ = 0;  // The beginning of the name or value that is being scanned.
  size_t name_begin_ = 0;
  size_t name_bytes_ = 0;
  uint64_t content_length_ = 0;
  ConnectionOptions connection_;
  int host_line_ = -1;
  Section section_ = Section::kHead;
  Phase phase_ = Phase::kLineStart;
  KnownField field_ = KnownField::kOther;
  ParseError error_ = ParseError::kNone;
  bool has_content_length_ = false;
  bool is_chunked_ = false;
  bool has_upgrade_ = false;
  bool has_expect_ = false;
  bool expects_continue_ = false;
  bool repeats_host_ = false;
};

}  // namespace httpsys::http1
