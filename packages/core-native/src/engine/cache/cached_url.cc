#include "engine/cache/cached_url.h"

#include <algorithm>

#include "base/ascii.h"

namespace httpsys::engine {
namespace {

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // Empty: no port.
};

HostAndPort SplitHost(std::string_view text) {
  const size_t bracket = text.rfind(']');
  const size_t from = bracket == std::string_view::npos ? 0 : bracket;
  const size_t colon = text.find(':', from);
  if (colon == std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

std::string CachedUrl(const cache::KeyParts& key) {
  std::string url = key.scope.is_secure ? "https://" : "http://";
  return url.append(key.host).append(cache::OriginForm(key.target));
}

bool CachedUrlPattern::Parse(std::string_view url) {
  const auto take = [&url](std::string_view scheme) {
    if (url.size() < scheme.size() || !EqualsIgnoringCase(url.substr(0, scheme.size()), scheme)) {
      return false;
    }
    url.remove_prefix(scheme.size());
    return true;
  };
  is_secure = take("https://");
  if (!is_secure && !take("http://")) return false;
  const std::string_view authority = url.substr(0, url.find_first_of("/?"));
  if (authority.empty()) return false;
  url.remove_prefix(authority.size());
  const HostAndPort parts = SplitHost(authority);
  host.clear();
  if (parts.host != "*" && parts.host != "+") {
    for (const char c : parts.host) host.push_back(LowerCase(c));
  }
  port.assign(parts.port.empty() ? std::string_view(is_secure ? "443" : "80") : parts.port);
  target.assign(url.empty() ? std::string_view("/") : url);
  return true;
}

bool CachedUrlPattern::Matches(const cache::KeyParts& key) const {
  if (key.scope.is_secure != is_secure) return false;
  if (!host.empty()) {
    const HostAndPort parts = SplitHost(key.host);
    const bool is_same_port = parts.port.empty() || parts.port == port;
    if (!is_same_port || !EqualsIgnoringCase(parts.host, host)) return false;
  }
  const std::string_view asked = cache::OriginForm(key.target);
  if (asked == target) return true;
  if (!is_recursive || !asked.starts_with(target)) return false;
  const char next = asked[target.size()];
  return target.ends_with('/') || next == '/' || next == '?';
}

}  // namespace httpsys::engine
