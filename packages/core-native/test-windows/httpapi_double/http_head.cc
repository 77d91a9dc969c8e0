#include "http_head.h"

#include <charconv>

#include "text.h"

namespace httpapi_double {
namespace {

bool IsToken(std::string_view text) {
  if (text.empty()) return false;
  for (const char byte : text) {
    if (byte <= ' ' || byte == 0x7f ||
        std::string_view("()<>@,;:\\\"/[]?={}").find(byte) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool ParseRequestLine(std::string_view line, RequestHead* head) {
  const std::vector<std::string_view> parts = Split(line, ' ');
  if (parts.size() != 3 || !IsToken(parts[0]) || parts[1].empty()) return false;
  head->method = parts[0];
  head->target = parts[1];
  if (parts[2] != "HTTP/1.1" && parts[2] != "HTTP/1.0") return false;
  head->version_minor = parts[2].back() - '0';
  head->keep_alive = head->version_minor == 1;
  return true;
}

bool ParseLine(std::string_view line, RequestHead* head) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1));
  if (EqualsIgnoringCase(name, "connection")) {
    if (HasToken(value, "close")) head->keep_alive = false;
    if (head->version_minor == 0 && HasToken(value, "keep-alive")) head->keep_alive = true;
  } else if (EqualsIgnoringCase(name, "content-length")) {
    const auto result =
        std::from_chars(value.data(), value.data() + value.size(), head->content_length);
    if (result.ec != std::errc() || result.ptr != value.data() + value.size()) return false;
    if (head->has_content_length) return false;
    head->has_content_length = true;
  } else if (EqualsIgnoringCase(name, "transfer-encoding")) {
    if (!EqualsIgnoringCase(value, "chunked")) return false;
    head->is_chunked = true;
  } else if (EqualsIgnoringCase(name, "expect")) {
    head->expects_continue = EqualsIgnoringCase(value, "100-continue");
  } else if (EqualsIgnoringCase(name, "host")) {
    if (!head->host_line.empty()) return false;
    head->host_line = value;
  }
  head->lines.emplace_back(name, value);
  return true;
}

void ReadTarget(RequestHead* head) {
  std::string_view target = head->target;
  if (const size_t scheme = target.find("://");
      scheme != std::string_view::npos && !target.starts_with('/')) {
    target.remove_prefix(scheme + 3);
    const size_t slash = target.find('/');
    head->host_line = target.substr(0, slash);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  const size_t question = target.find('?');
  head->path = target.substr(0, question);
  if (question != std::string_view::npos) head->query = target.substr(question);
  std::string_view host = head->host_line;
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    host = host.substr(0, colon);
  }
  head->host = ToLower(host);
}

}  // namespace

std::string RequestHead::Value(std::string_view name) const {
  std::string all;
  for (const auto& [other, value] : lines) {
    if (!EqualsIgnoringCase(name, other)) continue;
    if (!all.empty()) all += EqualsIgnoringCase(name, "cookie") ? "; " : ", ";
    all += value;
  }
  return all;
}

bool RequestHead::Has(std::string_view name) const {
  for (const auto& [other, value] : lines) {
    if (EqualsIgnoringCase(name, other)) return true;
  }
  return false;
}

bool ParseHead(std::string_view text, RequestHead* head) {
  bool is_first = true;
  while (!text.empty()) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
    if (is_first ? !ParseRequestLine(line, head) : !ParseLine(line, head)) return false;
    is_first = false;
  }
  if (is_first || (head->is_chunked && head->has_content_length)) return false;
  ReadTarget(head);
  return head->version_minor == 0 || head->Has("host");
}

}  // namespace httpapi_double
