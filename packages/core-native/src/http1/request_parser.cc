#include "http1/request_parser.h"

#include <algorithm>
#include <cstring>

#include "http1/char_class.h"

namespace httpsys::http1 {
namespace {

constexpr std::string_view kGetAndSpace = "GET ";
// The end of a request line. The minor version is at kMinorAt.
constexpr std::string_view kVersion11 = "HTTP/1.1\r\n";
constexpr size_t kSlashAt = 4;
constexpr size_t kMinorAt = 7;
constexpr size_t kLineFeedAt = 9;
// Longest head that is remembered for Repeat(): longer heads rarely occur twice in a row.
constexpr size_t kRememberedBytesMax = 1024;

ParseError WrongVersionByte(size_t at) {
  if (at <= kSlashAt) return ParseError::kInvalidConstant;
  return at == kLineFeedAt ? ParseError::kStrict : ParseError::kInvalidVersion;
}

}  // namespace

void RequestParser::Reset(size_t header_bytes_max, size_t lines_max) {
  budget_ = {std::min(header_bytes_max, kHeaderBytesCeiling), kPaddingBytesMax, lines_max};
  remembered_.clear();
  remembered_bytes_max_ = header_bytes_max;
  remembered_lines_max_ = lines_max;
  position_ = 0;
  phase_ = Phase::kLeadingLineEnds;
  error_ = ParseError::kNone;
  status_ = ParseStatus::kNeedMore;
  started_ = false;
}

void RequestParser::Remember(std::string_view message) {
  if (remembered_.empty() && position_ <= kRememberedBytesMax) {
    remembered_.assign(message.substr(0, position_));
  }
}

ParseStatus RequestParser::Fail(ParseError error) {
  error_ = error;
  return status_ = ParseStatus::kError;
}

// Skips bytes equal to `first` or `second`. Returns false if the limit is reached.
bool RequestParser::SkipPadding(std::string_view message, char first, char second) {
  const size_t begin = position_;
  while (position_ < message.size() &&
         (message[position_] == first || message[position_] == second)) {
    ++position_;
  }
  return budget_.TakePadding(position_ - begin);
}

ParseError RequestParser::ScanMethod(std::string_view message) {
  // Look at no more bytes than the longest method and its space, so that the work stays bounded if
  // the bytes come in small pieces.
  const std::string_view bytes = message.substr(position_, methods_->longest_bytes() + 1);
  // Fast path, because most requests have the method GET.
  if (bytes.starts_with(kGetAndSpace) && methods_->get() >= 0) {
    BeginTarget(methods_->get(), kGetAndSpace.size());
    return ParseError::kNone;
  }
  const size_t space = bytes.find(' ');
  if (space == std::string_view::npos) {
    if (!methods_->IsPrefix(bytes)) return ParseError::kInvalidMethod;
    return ParseError::kNone;
  }
  const int method = methods_->Find(bytes.substr(0, space));
  if (method < 0) return ParseError::kInvalidMethod;
  BeginTarget(method, space + 1);
  return ParseError::kNone;
}

// Begins the target after a method. `bytes` is the length of the method and its space.
void RequestParser::BeginTarget(int method, size_t bytes) {
  head_.method = static_cast<uint16_t>(method);
  target_.Reset(method == methods_->connect());
  position_ += bytes;
  phase_ = Phase::kSpaceBeforeTarget;
}

ParseError RequestParser::ScanTarget(std::string_view message) {
  const char* const end = message.data() + message.size();
  const char* const p = target_.Skip(message.data() + position_, end);
  position_ = static_cast<size_t>(p - message.data());
  target_bytes_ = position_ - target_begin_;
  if (p == end) {
    return budget_.Fits(target_bytes_) ? ParseError::kNone : ParseError::kHeaderOverflow;
  }
  // A line end here would be HTTP/0.9, which is refused.
  if (*p != ' ' || !target_.may_end()) return ParseError::kInvalidUrl;
  if (!budget_.Take(target_bytes_)) return ParseError::kHeaderOverflow;
  ++position_;
  phase_ = Phase::kSpaceBeforeVersion;
  return ParseError::kNone;
}

// Leaves position_ at the first letter until the line is complete: comparing ten bytes again is
// faster than remembering a position within them.
ParseError RequestParser::ScanVersion(std::string_view message) {
  const std::string_view bytes = message.substr(position_, kVersion11.size());
  if (bytes != kVersion11) {
    for (size_t i = 0; i < bytes.size(); i++) {
      if (bytes[i] != kVersion11[i] && !(i == kMinorAt && bytes[i] == '0')) {
        return WrongVersionByte(i);
      }
    }
    if (bytes.size() < kVersion11.size()) return ParseError::kNone;
  }
  head_.version_minor = bytes[kMinorAt] == '1' ? 1 : 0;
  position_ += kVersion11.size();
  phase_ = Phase::kFirstLine;
  return ParseError::kNone;
}

// Parses one phase, and complete ones that follow. `message` must have a byte at position_.
ParseError RequestParser::Step(std::string_view message) {
  ParseError error = ParseError::kNone;
  switch (phase_) {
    case Phase::kLeadingLineEnds:
      if (!SkipPadding(message, '\r', '\n')) return ParseError::kHeaderOverflow;
      if (position_ == message.size()) return ParseError::kNone;
      started_ = true;
      phase_ = Phase::kMethod;
      [[fallthrough]];
    case Phase::kMethod:
      error = ScanMethod(message);
      if (error != ParseError::kNone || phase_ == Phase::kMethod) return error;
      [[fallthrough]];
    case Phase::kSpaceBeforeTarget:
      if (!SkipPadding(message, ' ', ' ')) return ParseError::kHeaderOverflow;
      if (position_ == message.size()) return ParseError::kNone;
      target_begin_ = position_;
      phase_ = Phase::kTarget;
      [[fallthrough]];
    case Phase::kTarget:
      error = ScanTarget(message);
      if (error != ParseError::kNone || phase_ == Phase::kTarget) return error;
      [[fallthrough]];
    case Phase::kSpaceBeforeVersion:
      if (!SkipPadding(message, ' ', ' ')) return ParseError::kHeaderOverflow;
      if (position_ == message.size()) return ParseError::kNone;
      phase_ = Phase::kVersion;
      [[fallthrough]];
    case Phase::kVersion:
      error = ScanVersion(message);
      if (error != ParseError::kNone || phase_ == Phase::kVersion) return error;
      [[fallthrough]];
    case Phase::kFirstLine:
      if (position_ == message.size()) return ParseError::kNone;
      if (message[position_] == ' ') return ParseError::kUnexpectedSpace;
      fields_.Reset(Section::kHead, position_, budget_);
      phase_ = Phase::kLines;
      return ParseError::kNone;
    case Phase::kLines:
      break;
  }
  return ParseError::kNone;
}

void RequestParser::FillHead(std::string_view message) {
  const bool is_connect = head_.method == methods_->connect();
  const ConnectionOptions& connection = fields_.connection();
  head_.target = message.substr(target_begin_, target_bytes_);
  head_.is_connect = is_connect;
  head_.keep_alive = head_.version_minor > 0 ? !connection.close : connection.keep_alive;
  head_.upgrade = is_connect || (connection.upgrade && fields_.has_upgrade());
  head_.content_length = is_connect ? 0 : fields_.content_length();
  head_.body = BodyKind::kNone;
  if (head_.content_length > 0) head_.body = BodyKind::kLength;
  if (fields_.is_chunked() && !is_connect) head_.body = BodyKind::kChunked;
  head_.expect = Expectation::kNone;
  if (fields_.has_expect() && head_.version_minor > 0) {
    head_.expect = fields_.expects_continue() ? Expectation::kContinue : Expectation::kOther;
  }
  head_.lines.resize(fields_.line_count());
  for (size_t i = 0; i < head_.lines.size(); i++) head_.lines[i] = fields_.Line(message, i);
  const int host_line = fields_.host_line();
  head_.has_host = host_line >= 0;
  head_.repeats_host = fields_.repeats_host();
  head_.host =
      host_line >= 0 ? head_.lines[static_cast<size_t>(host_line)].value : std::string_view();
}

ParseStatus RequestParser::Parse(std::string_view message) {
  while (phase_ != Phase::kLines) {
    const Phase phase = phase_;
    if (position_ == message.size()) return ParseStatus::kNeedMore;
    const ParseError error = Step(message);
    if (error != ParseError::kNone) return Fail(error);
    if (phase_ == phase) return ParseStatus::kNeedMore;
  }
  switch (fields_.Scan(message)) {
    case FieldScanner::Status::kNeedMore:
      return ParseStatus::kNeedMore;
    case FieldScanner::Status::kError:
      return Fail(fields_.error());
    case FieldScanner::Status::kDone:
      break;
  }
  position_ = fields_.position();
  FillHead(message);
  return status_ = ParseStatus::kDone;
}

}  // namespace httpsys::http1
