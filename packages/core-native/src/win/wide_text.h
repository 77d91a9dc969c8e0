#pragma once

#include <string>

#include "win/http_api.h"

namespace httpsys::win {

// Converts UTF-8 to the wide text of Windows.
inline std::wstring Widen(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  std::wstring wide;
  wide.resize(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)));
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

}  // namespace httpsys::win
