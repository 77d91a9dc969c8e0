#include "engine/config/server_config.h"

#include <algorithm>
#include <utility>

#include "http1/request_host.h"
#include "url/url_prefix.h"

namespace httpsys::engine {

std::shared_ptr<const ServerConfig> ServerConfig::Create(ServerSettings settings) {
  auto config = std::make_shared<ServerConfig>();
  for (size_t i = 0; i < settings.prefixes.size(); ++i) {
    if (settings.prefixes[i].empty()) continue;  // The id is not in use.
    UrlPrefix prefix;
    if (ParseUrlPrefix(settings.prefixes[i], &prefix) != PrefixError::kNone) return nullptr;
    auto& ports = config->ports_;
    auto found = std::find_if(ports.begin(), ports.end(),
                              [&](const PortTable& table) { return table.port == prefix.port; });
    if (found == ports.end()) {
      found = ports.emplace(ports.end());
      found->port = prefix.port;
    }
    (prefix.is_https ? found->has_secure : found->has_plain) = true;
    const bool is_added = found->table.Add(prefix, static_cast<uint32_t>(i));
    // A duplicate with the other scheme is refused later, by its registration, which gives the
    // reason.
    if (!is_added && !(found->has_plain && found->has_secure)) return nullptr;
  }
  for (PortTable& port : config->ports_) {
    port.matches_everything = port.table.MatchesEverything(&port.everything_id);
  }
  config->tls_ = FindTlsContext(settings.tls);
  config->settings_ = std::move(settings);
  return config;
}

Route ServerConfig::FindPrefix(uint16_t local_port, const http1::RequestHead& head,
                               const LocalAddress& local) const {
  if (settings_.prefixes.empty()) return {RouteStatus::kMatch, 0};
  const HostName host = http1::HostOf(head);
  if (!host.is_valid) return {RouteStatus::kBadHost, 0};
  if (ports_.empty()) return {RouteStatus::kUnknownHost, 0};
  const PortTable* port = &ports_[0];
  // A single table needs no port: the listener may stand behind a port of another number.
  if (ports_.size() > 1) {
    const auto found = std::find_if(ports_.begin(), ports_.end(), [&](const PortTable& table) {
      return table.port == local_port;
    });
    if (found == ports_.end()) return {RouteStatus::kUnknownHost, 0};
    port = &*found;
  }
  if (port->matches_everything) return {RouteStatus::kMatch, port->everything_id};
  return port->table.Match(host.name, head.target, local);
}

std::shared_ptr<const tls::ServerContext> ServerConfig::TlsOf(uint16_t local_port,
                                                              const LocalAddress& local) const {
  const std::vector<TlsPlace>& places = settings_.tls_places;
  const bool is_meant =
      places.empty() || std::any_of(places.begin(), places.end(), [&](const TlsPlace& place) {
        return place.port == local_port &&
               (!place.address.is_ip || (local.is_ip && local.ip == place.address.ip));
      });
  return is_meant ? tls_ : nullptr;
}

}  // namespace httpsys::engine
