#include "http1/field_scanner.h"

#include "http1/byte_scan.h"

namespace httpsys::http1 {
namespace {

// If a value is incomplete, at most this many bytes of its beginning are checked again together
// with the next bytes, so that the total work stays linear.
constexpr size_t kRecheckedValueBytesMax = 64;

std::string_view TrimEnd(std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

}  // namespace

void FieldScanner::Reset(Section section, size_t position, HeadBudget budget) {
  lines_.clear();
  budget_ = budget;
  position_ = position;
  content_length_ = 0;
  connection_ = {};
  host_line_ = -1;
  section_ = section;
  phase_ = Phase::kLineStart;
  error_ = ParseError::kNone;
  has_content_length_ = false;
  is_chunked_ = false;
  has_upgrade_ = false;
  has_expect_ = false;
  expects_continue_ = repeats_host_ = false;
}

// Handles a complete name. Refuses a second field that gives the body's length, and any such field
// in a trailer section, which comes after the body.
ParseError FieldScanner::EndName(std::string_view name) {
  if (!budget_.Take(name.size())) return ParseError::kHeaderOverflow;
  name_bytes_ = name.size();
  field_ = FindKnownField(name);
  if (field_ == KnownField::kContentLength && (is_chunked_ || section_ == Section::kTrailers)) {
    return ParseError::kInvalidContentLength;
  }
  if (field_ == KnownField::kTransferEncoding &&
      (has_content_length_ || is_chunked_ || section_ == Section::kTrailers)) {
    return ParseError::kInvalidTransferEncoding;
  }
  return ParseError::kNone;
}

ParseError FieldScanner::BeginValue() const {
  if (field_ == KnownField::kContentLength && has_content_length_) {
    return ParseError::kUnexpectedContentLength;
  }
  return ParseError::kNone;
}

ParseError FieldScanner::CheckPartialValue(std::string_view value) const {
  if (field_ == KnownField::kContentLength) {
    uint64_t ignored;
    return ParseContentLength(value, false, &ignored);
  }
  if (field_ == KnownField::kTransferEncoding) return CheckTransferEncoding(value, false);
  return ParseError::kNone;
}

ParseError FieldScanner::EndValue(std::string_view value) {
  ParseError error = ParseError::kNone;
  switch (field_) {
    case KnownField::kOther:
      break;
    case KnownField::kConnection:
      ReadConnection(value, &connection_);
      break;
    case KnownField::kContentLength:
      error = ParseContentLength(value, true, &content_length_);
      has_content_length_ = true;
      break;
    case KnownField::kExpect:
      has_expect_ = true;
      expects_continue_ = expects_continue_ || ExpectsContinue(value);
      break;
    case KnownField::kHost:
      repeats_host_ = host_line_ >= 0;
      if (!repeats_host_) host_line_ = static_cast<int>(lines_.size());
      break;
    case KnownField::kTransferEncoding:
      error = CheckTransferEncoding(value, true);
      is_chunked_ = true;
      break;
    case KnownField::kUpgrade:
      has_upgrade_ = has_upgrade_ || !value.empty();
      break;
  }
  if (error == ParseError::kNone && !budget_.Take(value.size())) return ParseError::kHeaderOverflow;
  return error;
}

void FieldScanner::KeepLine(std::string_view text, size_t value_end) {
  const std::string_view value = text.substr(span_begin_, value_end - span_begin_);
  lines_.push_back({static_cast<uint32_t>(name_begin_), static_cast<uint32_t>(name_bytes_),
                    static_cast<uint32_t>(span_begin_),
                    static_cast<uint32_t>(TrimEnd(value).size())});
}

ParseError FieldScanner::ScanName(std::string_view text) {
  const char* const begin = text.data() + name_begin_;
  const char* const end = text.data() + text.size();
  const char* const p = SkipToken(text.data() + position_, end);
  position_ = static_cast<size_t>(p - text.data());
  if (p != end && (*p != ':' || p == begin)) return ParseError::kInvalidHeaderToken;
  // A line counts as soon as its first byte is there, as in Node.
  if (lines_.size() >= budget_.lines_max) return ParseError::kHeaderOverflow;
  if (p == end) {
    return budget_.Fits(position_ - name_begin_) ? ParseError::kNone : ParseError::kHeaderOverflow;
  }
  ++position_;
  phase_ = Phase::kSpaceBeforeValue;
  return EndName({begin, static_cast<size_t>(p - begin)});
}

// Skips the space before a value. Returns false if there is more than the limit.
bool FieldScanner::SkipSpace(std::string_view text) {
  const size_t begin = position_;
  while (position_ < text.size() && (text[position_] == ' ' || text[position_] == '\t')) {
    ++position_;
  }
  return budget_.TakePadding(position_ - begin);
}

ParseError FieldScanner::ScanValue(std::string_view text) {
  const char* const begin = text.data() + span_begin_;
  const char* const end = text.data() + text.size();
  const char* const p = SkipFieldValue(text.data() + position_, end);
  const std::string_view value(begin, static_cast<size_t>(p - begin));
  position_ = static_cast<size_t>(p - text.data());
  if (p != end && *p == '\r') {
    phase_ = Phase::kLineFeed;
    const ParseError error = EndValue(value);
    KeepLine(text, position_);
    ++position_;
    return error;
  }
  const ParseError error =
      CheckPartialValue(p == end ? value.substr(0, kRecheckedValueBytesMax) : value);
  if (error != ParseError::kNone) return error;
  if (!budget_.Fits(value.size())) return ParseError::kHeaderOverflow;
  if (p == end) return ParseError::kNone;
  if (*p == '\n') return ParseError::kCrExpected;
  return field_ == KnownField::kContentLength ? ParseError::kInvalidContentLength
                                              : ParseError::kInvalidHeaderToken;
}

// Scans one phase. `text` must have at least one byte at position_.
ParseError FieldScanner::Step(std::string_view text) {
  const char c = text[position_];
  switch (phase_) {
    case Phase::kLineStart:
      if (c == '\r') {
        phase_ = Phase::kLastLineFeed;
        ++position_;
        return ParseError::kNone;
      }
      name_begin_ = position_;
      phase_ = Phase::kName;
      [[fallthrough]];
    case Phase::kName:
      return ScanName(text);
    case Phase::kSpaceBeforeValue:
      if (!SkipSpace(text)) return ParseError::kHeaderOverflow;
      if (position_ == text.size()) return ParseError::kNone;
      span_begin_ = position_;
      if (text[position_] == '\n') return ParseError::kInvalidHeaderToken;
      if (text[position_] == '\r') {
        phase_ = Phase::kLineFeedAfterEmpty;
        const ParseError error =
            field_ == KnownField::kContentLength ? ParseError::kNone : EndValue({});
        KeepLine(text, position_);
        ++position_;
        return error;
      }
      phase_ = Phase::kValue;
      if (const ParseError error = BeginValue(); error != ParseError::kNone) return error;
      [[fallthrough]];
    case Phase::kValue:
      return ScanValue(text);
    case Phase::kLineFeed:
    case Phase::kLineFeedAfterEmpty:
      if (c != '\n') {
        return phase_ == Phase::kLineFeed ? ParseError::kLfExpected : ParseError::kStrict;
      }
      phase_ = phase_ == Phase::kLineFeedAfterEmpty && field_ == KnownField::kContentLength
                   ? Phase::kBehindEmptyLength
                   : Phase::kLineStart;
      ++position_;
      return ParseError::kNone;
    // Node refuses an empty length here, where the next line could have continued the value.
    case Phase::kBehindEmptyLength:
      return ParseError::kInvalidContentLength;
    case Phase::kLastLineFeed:
      if (c != '\n') return ParseError::kStrict;
      ++position_;
      return ParseError::kNone;
  }
  return ParseError::kNone;
}

// Reads whole lines of the common form `Name: value`, because Step() would have to be called
// several times for each. Stops before the first other line: an incomplete one, one that breaks a
// rule or limit, or one about the body's length. Returns true if the section ends after the lines.
bool FieldScanner::TakeCommonLines(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* line = text.data() + position_;
  while (end - line >= 2) {
    if (line[0] == '\r' && line[1] == '\n') {
      position_ += 2;
      return true;
    }
    const char* const name_end = SkipToken(line, end);
    if (end - name_end < 3 || name_end == line || name_end[0] != ':' || name_end[1] != ' ') break;
    const char* const begin = name_end + 2;
    const char* const value_end = SkipFieldValue(begin, end);
    if (end - value_end < 2 || value_end[0] != '\r' || value_end[1] != '\n') break;
    if (value_end == begin || *begin == ' ' || *begin == '\t') break;
    const std::string_view name(line, static_cast<size_t>(name_end - line));
    const std::string_view value(begin, static_cast<size_t>(value_end - begin));
    const KnownField field = FindKnownField(name);
    const bool is_common =
        field != KnownField::kContentLength && field != KnownField::kTransferEncoding;
    const bool fits = lines_.size() < budget_.lines_max &&
                      budget_.Fits(name.size() + value.size()) && budget_.padding_bytes != 0;
    if (!is_common || !fits) break;
    (void)budget_.Take(name.size());
    (void)budget_.TakePadding(1);
    name_begin_ = position_;
    name_bytes_ = name.size();
    span_begin_ = static_cast<size_t>(begin - text.data());
    field_ = field;
    (void)EndValue(value);
    position_ = static_cast<size_t>(value_end - text.data());
    KeepLine(text, position_);
    position_ += 2;
    line = value_end + 2;
  }
  return false;
}

FieldScanner::Status FieldScanner::Scan(std::string_view text) {
  if (phase_ == Phase::kLineStart && TakeCommonLines(text)) return Status::kDone;
  while (position_ < text.size()) {
    const bool is_last = phase_ == Phase::kLastLineFeed;
    error_ = Step(text);
    if (error_ != ParseError::kNone) return Status::kError;
    if (is_last) return Status::kDone;
  }
  return Status::kNeedMore;
}

}  // namespace httpsys::http1
