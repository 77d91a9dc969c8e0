#pragma once
// Which URL prefix owns a request? Matching as HTTP.SYS does it: docs/url-prefixes.md.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/url_prefix.h"

namespace httpsys {

// The local end of the connection that carries a request. IPv4 addresses are stored IPv4-mapped.
struct LocalAddress {
  std::array<uint8_t, 16> ip{};
  bool is_ip = false;  // False on a Unix socket: IP-bound prefixes never match.
};

enum class RouteStatus : uint8_t {
  kMatch,
  kUnknownHost,  // No prefix of this port speaks for the host: 400 "Invalid Hostname".
  kNotFound,     // Some prefix does, none for this path: 404.
  kReserved,     // The best match is a reservation nobody registered: 503.
};

struct Route {
  RouteStatus status;
  uint32_t id;  // With kMatch: the id given to Add().
};

// The prefixes of one (scheme, port). Copy to change, then publish the copy: readers never lock.
class UrlPrefixTable {
 public:
  // False when an identical prefix is there already.
  [[nodiscard]] bool Add(const UrlPrefix& prefix, uint32_t id);
  [[nodiscard]] bool AddReservation(const UrlPrefix& prefix);
  bool Remove(const UrlPrefix& prefix);

  // True when one prefix catches every request, so that Match() need not be called.
  bool MatchesEverything(uint32_t* id) const;

  // `host` is the Host header's value (port allowed) or the authority of an absolute-form target;
  // empty when there is none. `target` is the request target as received: origin-form, absolute-form,
  // authority-form or `*`. Nothing is allocated for paths without '%' and dot segments.
  Route Match(std::string_view host, std::string_view target, const LocalAddress& local) const;
};

}  // namespace httpsys
