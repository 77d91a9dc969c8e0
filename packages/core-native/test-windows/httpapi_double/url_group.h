#pragma once

#include <map>
#include <string>
#include <vector>

#include "model.h"
#include "url_prefix.h"

namespace httpapi_double {

// Thread: with the kernel's lock.
struct UrlGroup {
  struct Url {
    std::wstring text;
    UrlPrefix prefix;
    HTTP_URL_CONTEXT context;
  };

  uint64_t session = 0;
  QueueRef queue;  // Bound to; or nullptr.
  HTTP_ENABLED_STATE state = HttpEnabledStateActive;
  ULONG auth_schemes = 0;
  std::vector<Url> urls;
  std::map<int, std::string> properties;  // As they were set.
};

struct ServerSession {
  HTTP_ENABLED_STATE state = HttpEnabledStateActive;
  std::map<int, std::string> properties;
};

}  // namespace httpapi_double
