// Any bytes as the beginning of a TLS connection.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tls/hello_peek.h"
#include "url/url_prefix.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using httpsys::tls::PeekStatus;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string name;
  const PeekStatus status = httpsys::tls::PeekServername(bytes, &name);
  if (name.size() > httpsys::kHostNameBytesMax) abort();
  if (status != PeekStatus::kHello) return 0;
  // What follows changes nothing.
  std::string again;
  const std::string longer = std::string(bytes) + "more";
  if (httpsys::tls::PeekServername(longer, &again) != status || again != name) abort();
  return 0;
}
