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

namespace {

std::string_view WithoutDefaultPort(std::string_view host, bool is_secure) {
  const std::string_view port = is_secure ? ":443" : ":80";
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return host;
}

bool IsSameHost(std::string_view a, std::string_view b, bool is_secure) {
  a = WithoutDefaultPort(a, is_secure);
  b = WithoutDefaultPort(b, is_secure);
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return LowerCase(x) == LowerCase(y);
         });
}

bool HasScheme(std::string_view text) {
  const size_t colon = text.find_first_of(":/?#");
  return colon != std::string_view::npos && colon != 0 && text[colon] == ':';
}

// Removes dot segments from a path (RFC 3986, section 5.2.4).
std::string RemoveDots(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t end = path.find('/', 1);
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(segment.size());
    const bool is_last = path.empty();
    if (segment == "/.") {
      if (is_last) result.push_back('/');
    } else if (segment == "/..") {
      result.resize(std::min(result.size(), result.rfind('/')));
      if (is_last) result.push_back('/');
    } else {
      result.append(segment);
    }
  }
  return result;
}

}  // namespace

std::optional<std::string> SameOriginTarget(const RequestUrl& base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (HasScheme(reference)) {
    const std::string_view scheme = base.is_secure ? "https:" : "http:";
    if (reference.size() < scheme.size() ||
        !EqualsIgnoringCase(reference.substr(0, scheme.size()), scheme)) {
      return std::nullopt;
    }
    reference.remove_prefix(scheme.size());
    if (!reference.starts_with("//")) return std::nullopt;
  }
  if (reference.starts_with("//")) {
    reference.remove_prefix(2);
    const std::string_view host = reference.substr(0, reference.find_first_of("/?"));
    if (!IsSameHost(host, base.host, base.is_secure)) return std::nullopt;
    reference.remove_prefix(host.size());
    if (!reference.starts_with('/')) return "/" + std::string(reference);
  }
  const std::string_view base_path = base.target.substr(0, base.target.find('?'));
  if (reference.empty()) return std::string(base.target);
  if (reference.front() == '?') return std::string(base_path).append(reference);
  const std::string_view path = reference.substr(0, reference.find('?'));
  const std::string_view query = reference.substr(path.size());
  std::string whole;
  if (path.front() != '/') whole.assign(base_path.substr(0, base_path.rfind('/') + 1));
  whole.append(path);
  return RemoveDots(whole).append(query);
}

}  // namespace httpsys::engine
