#include "http1/chunked_decoder.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "http1/char_class.h"

namespace httpsys::http1 {
namespace {

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = LowerCase(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

void ChunkedDecoder::Reset(size_t trailer_bytes_max, size_t trailer_lines_max) {
  trailers_.clear();
  trailer_text_.clear();
  trailer_bytes_max_ = std::min(trailer_bytes_max, kHeaderBytesCeiling);
  fields_.Reset(Section::kTrailers, 0, {trailer_bytes_max_, kPaddingBytesMax, trailer_lines_max});
  chunk_bytes_left_ = 0;
  extension_bytes_ = 0;
  state_ = State::kSizeStart;
  error_ = ParseError::kNone;
}

ParseError ChunkedDecoder::CountExtension() {
  return ++extension_bytes_ > kChunkExtensionBytesMax ? ParseError::kChunkExtensionsOverflow
                                                      : ParseError::kNone;
}

// Expects the CR that ends a line with a chunk size. For other bytes returns an error: kCrExpected
// for LF, `otherwise` for the rest.
ParseError ChunkedDecoder::EndSizeLine(char c, ParseError otherwise) {
  if (c != '\r') return c == '\n' ? ParseError::kCrExpected : otherwise;
  state_ = State::kSizeLineFeed;
  return ParseError::kNone;
}

ParseError ChunkedDecoder::TakeSize(char c) {
  const int digit = HexValue(c);
  if (digit < 0 && state_ == State::kSizeStart) return ParseError::kInvalidChunkSize;
  if (digit < 0 && c != ';') return EndSizeLine(c, ParseError::kInvalidChunkSize);
  if (digit < 0) {
    state_ = State::kExtensionStart;
    return ParseError::kNone;
  }
  if (chunk_bytes_left_ >> 60 != 0) return ParseError::kInvalidChunkSize;
  chunk_bytes_left_ = chunk_bytes_left_ << 4 | static_cast<uint64_t>(digit);
  state_ = State::kSize;
  return ParseError::kNone;
}

// Reads a byte of a chunk extension outside quotes.
ParseError ChunkedDecoder::TakeExtension(char c) {
  if (state_ == State::kExtensionStart) {
    if (c == ' ' || c == '\r') return ParseError::kStrict;
    state_ = State::kExtensionName;
  }
  if (HasClass(c, kTokenChar)) return CountExtension();
  if (c == ';') {
    state_ = State::kExtensionStart;
    return ParseError::kNone;
  }
  if (c == '=' && state_ == State::kExtensionName) {
    state_ = State::kExtensionValue;
    return ParseError::kNone;
  }
  if (c == '"' && state_ == State::kExtensionValue) {
    state_ = State::kQuoted;
    return CountExtension();
  }
  return EndSizeLine(c, ParseError::kStrict);
}

ParseError ChunkedDecoder::TakeQuoted(char c) {
  if (state_ == State::kQuotedEnd) {
    if (c != ';') return EndSizeLine(c, ParseError::kStrict);
    state_ = State::kExtensionStart;
    return ParseError::kNone;
  }
  if (state_ == State::kQuotedPair) {
    if (!HasClass(c, kFieldValueChar)) return ParseError::kStrict;
    state_ = State::kQuoted;
  } else if (c == '"') {
    state_ = State::kQuotedEnd;
  } else if (c == '\\') {
    state_ = State::kQuotedPair;
  } else if (!HasClass(c, kQuotedChar)) {
    return ParseError::kStrict;
  }
  return CountExtension();
}

ParseError ChunkedDecoder::Take(char c) {
  switch (state_) {
    case State::kSizeStart:
    case State::kSize:
      return TakeSize(c);
    case State::kExtensionStart:
    case State::kExtensionName:
    case State::kExtensionValue:
      return TakeExtension(c);
    case State::kQuoted:
    case State::kQuotedPair:
    case State::kQuotedEnd:
      return TakeQuoted(c);
    case State::kSizeLineFeed:
      if (c != '\n') return ParseError::kStrict;
      extension_bytes_ = 0;
      state_ = chunk_bytes_left_ == 0 ? State::kTrailers : State::kData;
      return ParseError::kNone;
    case State::kDataCarriageReturn:
      if (c != '\r') return c == '\n' ? ParseError::kCrExpected : ParseError::kStrict;
      state_ = State::kDataLineFeed;
      return ParseError::kNone;
    case State::kDataLineFeed:
      if (c != '\n') return ParseError::kStrict;
      state_ = State::kSizeStart;
      return ParseError::kNone;
    case State::kData:
    case State::kTrailers:
    case State::kEnd:
      break;
  }
  return ParseError::kNone;
}

std::string ChunkedDecoder::Position() const {
  char size[17];
  const auto end = std::to_chars(size, size + sizeof size, chunk_bytes_left_, 16);
  std::string text(size, end.ptr);
  switch (state_) {
    case State::kSizeStart:
      return "";
    case State::kSize:
      return text;
    case State::kSizeLineFeed:
      return text + "\r";
    case State::kData:
      return text + "\r\n";
    case State::kDataCarriageReturn:
      return "1\r\nx";
    case State::kDataLineFeed:
      return "1\r\nx\r";
    case State::kTrailers:
    case State::kEnd:
      return "0\r\n";
    default:
      break;
  }
  const bool has_begun = state_ != State::kExtensionStart && state_ != State::kExtensionName;
  if (extension_bytes_ == 0 && !has_begun) return text + ';';
  // The number of the extension's bytes matters, but not their content.
  const size_t name_bytes = std::clamp<size_t>(extension_bytes_, 1, kChunkExtensionBytesMax);
  const bool is_quoted = state_ == State::kQuoted || state_ == State::kQuotedPair;
  text.append(";").append(name_bytes, 'a');
  if (state_ == State::kExtensionStart) text.append(";");
  if (state_ == State::kExtensionValue || is_quoted) text.append("=");
  if (is_quoted) text.append("\"");
  if (state_ == State::kQuotedPair) text.append("\\");
  if (state_ == State::kQuotedEnd) text.append("=\"\"");
  return text;
}

ChunkedDecoder::Step ChunkedDecoder::TakeData(std::string_view input, size_t position) {
  const size_t available = input.size() - position;
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(chunk_bytes_left_, available));
  chunk_bytes_left_ -= bytes;
  if (chunk_bytes_left_ == 0) state_ = State::kDataCarriageReturn;
  return {DecodeStatus::kBody, position + bytes, input.substr(position, bytes)};
}

// Reads trailers line by line, so that bytes after the trailers are not copied.
ChunkedDecoder::Step ChunkedDecoder::TakeTrailers(std::string_view input, size_t position) {
  while (position < input.size()) {
    const size_t line_feed = std::min(input.find('\n', position), input.size() - 1);
    trailer_text_.insert(trailer_text_.end(), input.data() + position,
                         input.data() + line_feed + 1);
    position = line_feed + 1;
    const std::string_view text(trailer_text_.data(), trailer_text_.size());
    const FieldScanner::Status status = fields_.Scan(text);
    if (status == FieldScanner::Status::kNeedMore) continue;
    if (status == FieldScanner::Status::kError) {
      error_ = fields_.error();
      return {DecodeStatus::kError, position, {}};
    }
    state_ = State::kEnd;
    for (size_t i = 0; i < fields_.line_count(); i++) trailers_.push_back(fields_.Line(text, i));
    return {DecodeStatus::kEnd, position, {}};
  }
  return {DecodeStatus::kNeedMore, position, {}};
}

ChunkedDecoder::Step ChunkedDecoder::Next(std::string_view input) {
  for (size_t position = 0; position < input.size(); position++) {
    if (state_ == State::kData) return TakeData(input, position);
    if (state_ == State::kTrailers) return TakeTrailers(input, position);
    error_ = Take(input[position]);
    if (error_ != ParseError::kNone) return {DecodeStatus::kError, position, {}};
  }
  return {DecodeStatus::kNeedMore, input.size(), {}};
}

}  // namespace httpsys::http1
