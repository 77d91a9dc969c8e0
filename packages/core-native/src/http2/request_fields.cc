#include "http2/request_fields.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "http1/char_class.h"
#include "http1/field_rules.h"

namespace httpsys::http2 {
namespace {

using http1::HeaderLine;
using http1::KnownField;

// The WebSocket key of the request head, which servers require. The client gets no answer to it.
constexpr std::string_view kSocketKey = "AAAAAAAAAAAAAAAAAAAAAA==";

// Bytes that count for a field in addition to its text (RFC 9113, section 6.5.2).
constexpr size_t kFieldOverhead = 32;

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return http1::HasClass(c, http1::kTokenChar); });
}

}  // namespace

uint32_t RequestFields::ListBytesMax(size_t bytes_max) {
  const auto bytes = static_cast<uint32_t>(std::min<size_t>(bytes_max, UINT32_MAX / 2));
  return bytes + bytes / 2;
}

void RequestFields::Reset(size_t bytes_max, size_t lines_max) {
  text_.clear();
  lines_.clear();
  cookies_.clear();
  for (Pseudo* field : {&method_, &path_, &authority_, &protocol_}) {
    field->is_there = false;
    field->bytes.clear();
  }
  bytes_max_ = bytes_max;
  const size_t announced = ListBytesMax(bytes_max) / kFieldOverhead;
  lines_max_ =
      std::min({lines_max, std::max(announced, limits::kHttp2FieldsMin), limits::kRequestLinesMax});
  kept_bytes_ = total_bytes_ = 0;
  is_too_large_ = is_malformed_ = is_refused_ = false;
}

void RequestFields::Add(std::string_view name, std::string_view value) {
  total_bytes_ += name.size() + value.size();
  if (is_too_large_) return;
  const bool is_pseudo = !name.empty() && name.front() == ':';
  const size_t counted = value.size() + (is_pseudo ? 0 : name.size());
  if (name != ":scheme" && kept_bytes_ + counted >= bytes_max_) {
    is_too_large_ = true;
    return;
  }
  if (is_pseudo && AddPseudo(name, value)) return;
  if (lines_.size() >= lines_max_) {
    is_too_large_ = true;
    return;
  }
  kept_bytes_ += counted;
  lines_.push_back({text_.size(), name.size(), value.size()});
  text_.append(name).append(value);
}

bool RequestFields::AddPseudo(std::string_view name, std::string_view value) {
  if (name == ":scheme") return true;
  Pseudo* to = nullptr;
  if (name == ":method") to = &method_;
  if (name == ":path") to = &path_;
  if (name == ":authority") to = &authority_;
  if (name == ":protocol") to = &protocol_;
  if (to == nullptr || to->is_there) {
    is_malformed_ = true;
    return true;
  }
  kept_bytes_ += value.size();
  to->is_there = true;
  to->bytes.assign(value);
  return true;
}

HeaderLine RequestFields::View(const Line& line) const {
  const std::string_view text = text_;
  return {text.substr(line.name_at, line.name_bytes),
          text.substr(line.name_at + line.name_bytes, line.value_bytes)};
}

FieldsStatus RequestFields::Finish(const http1::MethodTable& methods, bool ends_stream) {
  head_.lines.clear();
  head_.version_minor = 1;
  head_.expect = http1::Expectation::kNone;
  head_.keep_alive = true;
  head_.content_length = 0;
  head_.body = http1::BodyKind::kNone;
  if (is_too_large_) return FieldsStatus::kTooLarge;
  std::string_view method;
  if (is_malformed_ || !FindTarget(&method)) return FieldsStatus::kMalformed;
  const int index = methods.Find(method);
  if (index < 0) return FieldsStatus::kUnknownMethod;
  head_.method = static_cast<uint16_t>(index);
  head_.is_connect = index == methods.connect();
  head_.upgrade = head_.is_connect || is_extended_connect();
  return FillLines(ends_stream) ? FieldsStatus::kDone : FieldsStatus::kMalformed;
}

bool RequestFields::FindTarget(std::string_view* method) {
  *method = method_.bytes;
  const bool is_connect = *method == "CONNECT";
  // Refuse user information and fragments (RFC 9113, section 8.3.1): an application that accepts
  // them might read another host or path than this server.
  const bool is_more =
      authority_.bytes.find('@') != std::string::npos || path_.bytes.find('#') != std::string::npos;
  if (is_more) return false;
  if (protocol_.is_there) {
    if (!is_connect || !IsToken(protocol_.bytes)) return false;
    *method = "GET";
  } else if (is_connect) {
    head_.target = authority_.bytes;
    return !head_.target.empty() && IsVisible(head_.target);
  }
  head_.target = path_.bytes;
  if (head_.target.empty() || !IsVisible(head_.target)) return false;
  return head_.target.front() == '/' || (head_.target == "*" && *method == "OPTIONS");
}

bool RequestFields::FillLines(bool ends_stream) {
  JoinCookies();
  has_host_line_ = false;
  head_.repeats_host = false;
  head_.has_host = authority_.is_there;
  head_.host = authority_.bytes;
  if (authority_.is_there) head_.lines.push_back({"host", authority_.bytes});
  bool has_length = false;
  for (const Line& line : lines_) {
    if (!AddLine(View(line), &has_length)) return false;
  }
  if (is_extended_connect()) {
    head_.lines.push_back({"connection", "Upgrade"});
    head_.lines.push_back({"upgrade", protocol_.bytes});
    head_.lines.push_back({"sec-websocket-key", kSocketKey});
    return true;
  }
  // The bytes of a tunnel are no body.
  if (ends_stream || head_.upgrade) return !has_length || head_.content_length == 0 || !ends_stream;
  head_.body = has_length ? http1::BodyKind::kLength : http1::BodyKind::kChunked;
  // Tells applications that there is a body.
  if (!has_length) head_.lines.push_back({"transfer-encoding", "chunked"});
  return true;
}

// Adds a line to the head. Returns false if the section is malformed.
bool RequestFields::AddLine(const HeaderLine& line, bool* has_length) {
  switch (http1::FindKnownField(line.name)) {
    case KnownField::kConnection:
    case KnownField::kTransferEncoding:
    case KnownField::kUpgrade:
      return false;
    case KnownField::kHost:
      // Refuse a second Host line, and a Host line that differs from `:authority`.
      if (std::exchange(has_host_line_, true)) return false;
      if (head_.has_host) return line.value == head_.host;
      head_.has_host = true;
      head_.host = line.value;
      break;
    case KnownField::kContentLength: {
      uint64_t length = 0;
      if (http1::ParseContentLength(line.value, true, &length) != http1::ParseError::kNone) {
        return false;
      }
      if (*has_length) return length == head_.content_length;
      *has_length = true;
      head_.content_length = length;
      break;
    }
    case KnownField::kExpect:
      // A request expects 100 (Continue) if one of its Expect lines says so, as on HTTP/1.1.
      if (http1::ExpectsContinue(line.value)) {
        head_.expect = http1::Expectation::kContinue;
      } else if (head_.expect == http1::Expectation::kNone) {
        head_.expect = http1::Expectation::kOther;
      }
      break;
    case KnownField::kOther:
      if (line.name == "keep-alive" || line.name == "http2-settings") return false;
      if (line.name == "sec-websocket-key" && is_extended_connect()) return true;
      if (line.name == "cookie" && !cookies_.empty()) {
        // The joined cookies replace the first cookie line.
        if (!std::exchange(has_cookie_, true)) head_.lines.push_back({"cookie", cookies_});
        return true;
      }
      break;
  }
  head_.lines.push_back(line);
  return true;
}

// Joins cookie lines: clients may split them for compression, but applications expect one.
void RequestFields::JoinCookies() {
  has_cookie_ = false;
  cookies_.clear();
  size_t count = 0;
  for (const Line& line : lines_) {
    if (View(line).name == "cookie") ++count;
  }
  if (count < 2) return;
  for (const Line& line : lines_) {
    const HeaderLine view = View(line);
    if (view.name != "cookie") continue;
    if (!cookies_.empty()) cookies_.append("; ");
    cookies_.append(view.value);
  }
}

bool RequestFields::FinishTrailers(std::vector<HeaderLine>* lines) const {
  lines->clear();
  if (is_malformed_) return false;
  for (const Line& line : lines_) {
    const HeaderLine view = View(line);
    if (!view.name.empty() && view.name.front() == ':') return false;
    lines->push_back(view);
  }
  return !method_.is_there && !path_.is_there && !authority_.is_there && !protocol_.is_there;
}

}  // namespace httpsys::http2
