#pragma once
// The settings of a listening server in the form that lanes use.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "backend/backend.h"
#include "backend/tls_contexts.h"
#include "base/sorted_chunks.h"
#include "engine/config/cache_terms.h"
#include "engine/config/static_mounts.h"
#include "http1/request_parser.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// One version of a server's settings. Immutable, and shared by the lanes.
class ServerConfig {
 public:
  // Takes unchanged prefixes from `last`, the version before; nullptr = none. `sites` makes the
  // served folders; it may be nullptr if none is new. `cache` becomes the result of cache().
  // Returns nullptr if a prefix is not canonical, or if `settings` needs a missing `last`.
  static std::shared_ptr<const ServerConfig> Create(
      ServerSettings settings, const ServerConfig* last = nullptr,
      static_files::StaticSites* sites = nullptr,
      std::shared_ptr<const CacheTerms> cache = nullptr);

  // The HTTP/1.1 header lines for an answer after which the connection stays open: Connection, and
  // Keep-Alive if the server limits the idle time.
  const std::string& keep_alive_lines() const { return keep_alive_lines_; }
  // The settings, without the list of prefix changes.
  const ServerSettings& settings() const { return settings_; }
  // True if the server has prefixes; false if it serves everything on its sockets.
  bool has_prefixes() const { return !settings_.prefixes.is_everything; }
  // Returns the prefix with this id; empty = unknown.
  std::string PrefixText(uint32_t id) const;
  // True if the server has folders whose files lanes send without JavaScript.
  bool has_statics() const { return !statics_->empty(); }
  // Finds the folder of a request for the prefix. `path` is as in StaticMounts::Find().
  StaticMounts::Found FindStatic(uint32_t prefix_id, std::string_view path) const;
  // Settings of the output cache for this server; nullptr = it has no cache.
  const CacheTerms* cache() const { return cache_.get(); }
  const std::shared_ptr<const CacheTerms>& shared_cache() const { return cache_; }
  // The TLS context of the server; nullptr = no TLS.
  const tls::ServerContext* tls() const { return tls_.get(); }
  // Finds the prefix that owns a request on a connection to `local_port`. A server of a whole port
  // or path accepts every Host, as Node does; others need a valid Host (http1::HostOf()).
  Route FindPrefix(uint16_t local_port, const http1::RequestHead& head,
                   const LocalAddress& local) const;
  // Returns the TLS context for connections to this port and address; nullptr = no TLS.
  std::shared_ptr<const tls::ServerContext> TlsOf(uint16_t local_port,
                                                  const LocalAddress& local) const;

 private:
  struct PortTable {
    uint16_t port = 0;
    size_t plain_count = 0;
    size_t secure_count = 0;
    bool matches_everything = false;
    uint32_t everything_id = 0;
    UrlPrefixTable table;
  };

  struct Prefix : NumberedPrefix {
    size_t path_bytes = 1;  // Length of the prefix's decoded path.
  };

  // A port and address on which the server accepts, with TLS or without. Places are sorted by port,
  // TLS and address; no address comes first.
  struct Spoken {
    using Place = std::tuple<uint16_t, bool, bool, std::array<uint8_t, 16>>;

    static Place At(uint16_t port, bool is_https, const LocalAddress& address);

    Place place;
  };

  bool AddPrefix(const NumberedPrefix& added);
  void RemovePrefix(uint32_t id);
  void ChangePlace(const SpokenPlace& changed);
  bool Speaks(uint16_t port, bool is_https, const LocalAddress& address) const;
  bool IsSecure(uint16_t port, const LocalAddress& local) const;

  ServerSettings settings_;
  std::string keep_alive_lines_;
  std::shared_ptr<const StaticMounts> statics_;
  std::shared_ptr<const CacheTerms> cache_;
  std::shared_ptr<const tls::ServerContext> tls_;
  SortedChunks<Prefix, &Prefix::id> prefixes_;
  std::vector<PortTable> ports_;
  SortedChunks<Spoken, &Spoken::place> places_;
  // Prefixes that a PortTable cannot hold because it has an equal prefix with the other scheme.
  std::vector<NumberedPrefix> shadowed_;
};

}  // namespace httpsys::engine
