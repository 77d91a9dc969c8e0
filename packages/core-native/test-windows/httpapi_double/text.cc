#include "text.h"

#include <cstdio>

#include "model.h"

namespace httpapi_double {
namespace {

char LowerOf(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

int HexOf(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const char lower = LowerOf(byte);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& byte : lower) byte = LowerOf(byte);
  return lower;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (LowerOf(a[i]) != LowerOf(b[i])) return false;
  }
  return true;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool HasToken(std::string_view list, std::string_view token) {
  for (const std::string_view item : Split(list, ',')) {
    if (EqualsIgnoringCase(Trim(item), token)) return true;
  }
  return false;
}

std::string Narrow(std::wstring_view text) {
  const int units = static_cast<int>(text.size());
  std::string narrow(static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, text.data(), units,
                                                             nullptr, 0, nullptr, nullptr)),
                     '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), units, narrow.data(),
                      static_cast<int>(narrow.size()), nullptr, nullptr);
  return narrow;
}

std::wstring Widen(std::string_view text) {
  const int bytes = static_cast<int>(text.size());
  std::wstring wide(
      static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string PercentDecoded(std::string_view text, bool keeps_slash) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexOf(text[i + 1]) : -1;
    const int low = high >= 0 ? HexOf(text[i + 2]) : -1;
    const char byte = static_cast<char>(high * 16 + low);
    if (low < 0 || (keeps_slash && byte == '/')) {
      plain += text[i];
      continue;
    }
    plain += byte;
    i += 2;
  }
  return plain;
}

std::string JsonText(std::string_view text) {
  std::string json = "\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') {
      json += '\\';
      json += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
      json += escape;
    } else {
      json += byte;
    }
  }
  return json + '"';
}

}  // namespace httpapi_double
