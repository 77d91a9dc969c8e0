#pragma once
// Which URL prefix owns a request? Matching as HTTP.SYS does it: docs/url-prefixes.md.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "url/url_prefix.h"

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
  // Not from the table, but answered like these:
  kOffline,       // Its owner has gone: 503.
  kQueueFull,     // Its owner does not keep up: 503.
  kQueueTimeout,  // Its owner has not begun it in time: 503.
  kMisdirected,   // Of a host whose certificate another process has: 421.
  kBadUrl,        // Its owner takes no such URL: 400 "Invalid URL".
  kBadHost,       // It has no one valid Host, and its owner has prefixes: 400 "Invalid Hostname".
  kNoRelay,       // Too many requests are at other members already: 503.
};

struct Route {
  RouteStatus status;
  uint32_t id;  // With kMatch: the id given to Add().
};

// The prefixes of one (scheme, port). Copy to change, then publish the copy: readers never lock.
class UrlPrefixTable {
 public:
  // False when an identical prefix is there already. Case of host and path makes no difference.
  [[nodiscard]] bool Add(const UrlPrefix& prefix, uint32_t id);
  // The id of an identical prefix that is there already, otherwise `id`, which is added.
  uint32_t AddOrFind(const UrlPrefix& prefix, uint32_t id);
  // A reservation rejects what it matches best until the same prefix is added. False when it is
  // there already.
  [[nodiscard]] bool AddReservation(const UrlPrefix& prefix);
  // Takes a prefix back; a reservation of it stays. False when it was not there.
  bool Remove(const UrlPrefix& prefix);

  // True when one prefix catches every request, so that Match() need not be called.
  bool MatchesEverything(uint32_t* id) const;

  // `name` is a name of ReadHost(), empty when the request names no host. `target` is the request
  // target as received: origin-form, absolute-form, authority-form or `*`; the last two have the
  // path
  // `/`. Only its path counts here: http1::HostOf() has read its authority. Nothing is allocated
  // for paths without '%' and dot segments. Linear in the length of `target` and logarithmic in the
  // number of prefixes; never fails, whatever the bytes.
  Route Match(std::string_view name, std::string_view target, const LocalAddress& local) const;

  // Of all paths of a host: by its name, by the longest subdomain wildcard, or (`is_named` false)
  // by the address that the client has connected to, or the wildcards that speak for every host.
  // `name` as in Match().
  std::vector<uint32_t> IdsOf(std::string_view name, const LocalAddress& local,
                              bool* is_named) const;

 private:
  struct Entry {
    std::string path;  // Folded, begins and ends with '/'.
    uint32_t id = 0;
    bool is_registered = false;
    bool is_reserved = false;
  };

  // The prefixes of one host, sorted by path.
  struct Host {
    std::string name;  // Empty for a wildcard, 16 raw bytes for an address.
    std::vector<Entry> entries;
  };

  // The four categories; subdomain wildcards stand apart because they are looked up otherwise.
  enum Category : uint8_t { kStrong, kNames, kSubdomains, kAddresses, kWeak, kCategories };

  static Category CategoryOf(const UrlPrefix& prefix);
  static const Entry* FindPath(const Host* host, std::string_view path);
  Entry* FindOrCreate(const UrlPrefix& prefix);
  const Host* FindHost(Category category, std::string_view name) const;
  const Entry* FindExplicit(std::string_view name, std::string_view path, bool* host_known) const;

  std::array<std::vector<Host>, kCategories> hosts_;  // Each sorted by name.
};

}  // namespace httpsys
