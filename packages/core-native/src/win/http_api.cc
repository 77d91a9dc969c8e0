#include "win/http_api.h"

#include <string_view>

namespace httpsys::win {

bool IsCoreOnly() {
  char text[8] = "";
  const DWORD length = GetEnvironmentVariableA("HTTPSYS_HTTPAPI", text, sizeof text);
  return length < sizeof text && std::string_view(text, length) == "core";
}

bool SupportsResponseTrailers() {
  using IsFeatureSupported = BOOL(WINAPI*)(int);
  // Cast through void*: compilers warn about a direct cast between function types.
  static const auto ask = reinterpret_cast<IsFeatureSupported>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleA("httpapi.dll"), "HttpIsFeatureSupported")));
  return ask != nullptr && ask(kFeatureResponseTrailers) != 0;
}

}  // namespace httpsys::win
