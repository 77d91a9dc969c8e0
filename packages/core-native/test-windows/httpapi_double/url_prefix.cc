#include "url_prefix.h"

#include <charconv>

#include "text.h"

namespace httpapi_double {
namespace {

bool IsAddress(std::string_view host) {
  return host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool ParsePort(std::string_view text, uint16_t* port) {
  if (text.empty() || text[0] == '0') return false;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *port);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

UrlPrefix::Kind KindOf(std::string* host) {
  if (*host == "+") return UrlPrefix::Kind::kStrongWildcard;
  if (*host == "*") return UrlPrefix::Kind::kWeakWildcard;
  if (host->front() == '[') {
    *host = host->substr(1, host->size() - 2);
    return UrlPrefix::Kind::kAddress;
  }
  return IsAddress(*host) ? UrlPrefix::Kind::kAddress : UrlPrefix::Kind::kExplicit;
}

}  // namespace

bool ParseUrlPrefix(std::wstring_view wide, bool is_flexible, UrlPrefix* prefix) {
  const std::string narrow = Narrow(wide);
  std::string_view text = narrow;
  if (text.starts_with("https://")) {
    prefix->is_secure = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    prefix->is_secure = false;
    text.remove_prefix(7);
  } else {
    return false;
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || (!is_flexible && text.back() != '/')) return false;
  prefix->path = ToLower(text.substr(slash));
  const std::string_view authority = text.substr(0, slash);
  const size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (!ParsePort(authority.substr(colon + 1), &prefix->port)) return false;
  prefix->host = ToLower(authority.substr(0, colon));
  if (prefix->host.front() == '[' && prefix->host.back() != ']') return false;
  prefix->kind = KindOf(&prefix->host);
  return !prefix->host.empty();
}

bool UrlPrefix::IsForHost(const Arrival& arrival) const {
  if (is_secure != arrival.is_secure || port != arrival.port) return false;
  if (kind == Kind::kExplicit) return host == arrival.host;
  if (kind == Kind::kAddress) return host == arrival.local_address;
  return true;
}

bool UrlPrefix::IsFor(const Arrival& arrival) const {
  if (!IsForHost(arrival)) return false;
  // With its slash, so that /a/ is for /a, too, but not for /ab.
  return (arrival.path + '/').starts_with(path);
}

}  // namespace httpapi_double
