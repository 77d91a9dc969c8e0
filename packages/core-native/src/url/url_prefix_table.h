#pragma once
// Finds the URL prefix that owns a request, as HTTP.SYS does (docs/url-prefixes.md).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sorted_chunks.h"
#include "url/url_prefix.h"

namespace httpsys {

// The local end of the connection that carries a request. IPv4 addresses are stored IPv4-mapped.
struct LocalAddress {
  std::array<uint8_t, 16> ip{};
  bool is_ip = false;  // False on a Unix socket: prefixes with an IP address never match it.
};

enum class RouteStatus : uint8_t {
  kMatch,
  kUnknownHost,  // No prefix of this port applies to the host: 400 "Invalid Hostname".
  kNotFound,     // Prefixes apply to the host, but none to this path: 404.
  kReserved,     // The best match is a reserved prefix that no server has registered: 503.
  // Match() never returns the values below; requests with them are answered in the same way.
  kOffline,       // The owner's process has ended: 503.
  kQueueFull,     // The owner's queue is full: 503.
  kQueueTimeout,  // The owner has not begun the request in time: 503.
  kMisdirected,   // Another server has the certificate for the host: 421.
  kBadUrl,        // The owner refuses such URLs: 400 "Invalid URL".
  kLongUrl,       // The URL is longer than the owner allows: 414.
  // The request lacks a single valid Host, and the owner has prefixes: 400 "Invalid Hostname".
  kBadHost,
  kNoRelay,  // Too many requests are relayed to other members: 503.
  // The client or the prefix already has its maximum number of connections: 503.
  kTooManyConnections,
};

struct Route {
  RouteStatus status;
  uint32_t id;  // With kMatch: the id given to Add().
  // True if owners of the same queue in other processes or worker threads may also get the request.
  bool has_others = false;
  uint32_t target_id = 0;  // Valid with has_others: the id of the target in the port's routes.
};

// The prefixes of one scheme and port. A published table must not change, because readers take no
// lock: change a copy, and publish it. A copy shares unchanged chunks (SortedChunks), so a change
// costs nearly the same with a hundred prefixes and with many thousands.
class UrlPrefixTable {
 public:
  // Adds a prefix. Returns false if an identical one exists, apart from the case of host and path.
  [[nodiscard]] bool Add(const UrlPrefix& prefix, uint32_t id);
  // Returns the id of an identical prefix; nothing if there is none, or only a reservation.
  std::optional<uint32_t> IdOf(const UrlPrefix& prefix) const;
  // Adds a reservation: requests for which it is the best match are rejected until the same prefix
  // is added. Returns false if the reservation exists.
  [[nodiscard]] bool AddReservation(const UrlPrefix& prefix);
  // Removes a prefix; its reservation stays. Returns false if the prefix does not exist.
  bool Remove(const UrlPrefix& prefix);

  // Returns true if one prefix matches every request, so that Match() need not be called.
  bool MatchesEverything(uint32_t* id) const;

  // Finds the prefix of a request. `name` is a name of ReadHost(), empty if the request names no
  // host. `target` is the request target as received: origin-form, absolute-form, authority-form or
  // `*` (the path of the last two is `/`). Only its path is used, because http1::HostOf() has read
  // its authority. Allocates nothing for paths without '%' and dot segments. Linear in the length
  // of `target` and logarithmic in the number of prefixes; never fails, whatever the bytes.
  Route Match(std::string_view name, std::string_view target, const LocalAddress& local) const;

  // Returns the ids of all prefixes of a host. Sets *is_named to true if they are prefixes of the
  // host's name, or of the longest subdomain wildcard; to false if they are prefixes of the address
  // to which the client has connected, or of the wildcards for every host. `name` is as in Match().
  std::vector<uint32_t> IdsOf(std::string_view name, const LocalAddress& local,
                              bool* is_named) const;

 private:
  struct Entry {
    std::string path;  // Folded, begins and ends with '/'.
    uint32_t id = 0;
    bool is_registered = false;
    bool is_reserved = false;
  };

  using Entries = SortedChunks<Entry, &Entry::path>;

  struct Host {
    std::string name;  // Empty for a wildcard, 16 raw bytes for an address.
    Entries entries;   // The prefixes of the host.
  };

  using Hosts = SortedChunks<Host, &Host::name>;

  // The kinds of hosts. Subdomain wildcards are searched differently from other names.
  enum Category : uint8_t { kStrong, kNames, kSubdomains, kAddresses, kWeak, kCategories };

  static Category CategoryOf(const UrlPrefix& prefix);
  static const Entry* FindPath(const Host* host, std::string_view path);
  const Entry* FindEntry(const UrlPrefix& prefix) const;
  Entry& FindOrCreate(const UrlPrefix& prefix);
  const Host* FindHost(Category category, std::string_view name) const;
  const Entry* FindExplicit(std::string_view name, std::string_view path, bool* host_known) const;

  std::array<Hosts, kCategories> hosts_;
};

}  // namespace httpsys
