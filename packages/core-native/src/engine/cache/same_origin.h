#pragma once
// References in a response (such as Location) to other URLs of its origin.

#include <optional>
#include <string>
#include <string_view>

namespace httpsys::engine {

struct RequestUrl {
  bool is_secure = false;
  std::string_view host;    // Value of the Host field.
  std::string_view target;  // In origin form.
};

// Resolves the value of a Location or Content-Location field (RFC 3986, section 5.2). Returns the
// target of the resulting URL; nothing = malformed, or of another origin. Thread: any.
[[nodiscard]] std::optional<std::string> SameOriginTarget(const RequestUrl& base,
                                                          std::string_view reference);

}  // namespace httpsys::engine
