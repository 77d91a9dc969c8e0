#include "static_files/html_document.h"

#include <cstddef>

#include "base/ascii.h"

namespace httpsys::static_files {
namespace {

std::string_view EntityOf(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool IsHexadecimal(char c) { return IsDigit(c) || (LowerCase(c) >= 'a' && LowerCase(c) <= 'f'); }

bool IsUrlByte(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '%') {
    return text.size() - at > 2 && IsHexadecimal(text[at + 1]) && IsHexadecimal(text[at + 2]);
  }
  return c > ' ' && c < 0x7F && std::string_view("\"<>`{}").find(c) == std::string_view::npos;
}

}  // namespace

std::string HtmlDocument(std::string_view title, std::string_view text) {
  std::string document = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  document.append("<title>").append(title).append("</title>\n</head>\n<body>\n<pre>");
  for (const char c : text) {
    const std::string_view entity = EntityOf(c);
    entity.empty() ? document.append(1, c) : document.append(entity);
  }
  return document.append("</pre>\n</body>\n</html>\n");
}

std::string EncodeUrl(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (IsUrlByte(text, at)) {
      encoded += text[at];
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

std::string_view ErrorText(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 412:
      return "Precondition Failed";
    case 416:
      return "Range Not Satisfiable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace httpsys::static_files
