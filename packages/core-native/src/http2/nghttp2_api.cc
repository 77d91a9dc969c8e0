#include "http2/nghttp2_api.h"

#include <dlfcn.h>

#include "base/process.h"

namespace httpsys::http2 {
namespace {

template <typename Function>
bool Find(const char* name, Function* to) {
  *to = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *to != nullptr;
}

bool Load(NgApi* api) {
  bool is_whole = true;
#define HTTPSYS_FIND(name, ...) is_whole = Find("nghttp2_" #name, &api->name) && is_whole;
  HTTPSYS_NGHTTP2_FUNCTIONS(HTTPSYS_FIND)
#undef HTTPSYS_FIND
  return is_whole;
}

}  // namespace

const NgApi* NgApi::Get() {
  static const bool is_whole = Load(&OfProcess<NgApi>());
  return is_whole ? &OfProcess<NgApi>() : nullptr;
}

}  // namespace httpsys::http2
