#include "win/http_api.h"

#include <string_view>

namespace httpsys::win {

bool IsCoreOnly() {
  char text[8] = "";
  const DWORD length = GetEnvironmentVariableA("HTTPSYS_HTTPAPI", text, sizeof text);
  return length < sizeof text && std::string_view(text, length) == "core";
}

}  // namespace httpsys::win
