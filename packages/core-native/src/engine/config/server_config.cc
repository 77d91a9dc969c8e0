#include "engine/config/server_config.h"

#include <algorithm>
#include <utility>

#include "http1/request_host.h"
#include "url/url_prefix.h"

namespace httpsys::engine {
namespace {

std::string KeepAliveLines(const ServerSettings& settings) {
  std::string lines = "Connection: keep-alive\r\n";
  if (settings.keep_alive_ms == 0) return lines;
  lines.append("Keep-Alive: timeout=").append(std::to_string(settings.keep_alive_ms / 1000));
  if (settings.max_requests_per_socket != 0) {
    lines.append(", max=").append(std::to_string(settings.max_requests_per_socket));
  }
  return lines.append("\r\n");
}

}  // namespace

std::shared_ptr<const ServerConfig> ServerConfig::Create(ServerSettings settings,
                                                         const ServerConfig* last,
                                                         static_files::StaticSites* sites,
                                                         std::shared_ptr<const CacheTerms> cache) {
  const bool is_whole = settings.prefixes.is_whole;
  const bool needs_last = !is_whole || settings.keeps_statics;
  if (needs_last && last == nullptr) return nullptr;
  const auto config = std::make_shared<ServerConfig>();
  if (!is_whole) {
    config->prefixes_ = last->prefixes_;
    config->ports_ = last->ports_;
    config->places_ = last->places_;
    config->shadowed_ = last->shadowed_;
  }
  const auto changes = std::exchange(settings.prefixes.changes, {});
  // Remove all changed prefixes first: an added prefix may have the id of a removed one.
  for (const NumberedPrefix& changed : changes) config->RemovePrefix(changed.id);
  for (const NumberedPrefix& changed : changes) {
    if (!changed.text.empty() && !config->AddPrefix(changed)) return nullptr;
  }
  for (const SpokenPlace& changed : std::exchange(settings.prefixes.places, {})) {
    config->ChangePlace(changed);
  }
  for (PortTable& port : config->ports_) {
    port.matches_everything = port.table.MatchesEverything(&port.everything_id);
  }
  const auto statics = std::exchange(settings.statics, {});
  config->statics_ = settings.keeps_statics
                         ? last->statics_
                         : std::make_shared<const StaticMounts>(
                               statics, last == nullptr ? nullptr : last->statics_.get(), sites);
  config->cache_ = std::move(cache);
  config->tls_ = FindTlsContext(settings.tls);
  config->settings_ = std::move(settings);
  config->keep_alive_lines_ = KeepAliveLines(config->settings_);
  return config;
}

bool ServerConfig::AddPrefix(const NumberedPrefix& added) {
  UrlPrefix prefix;
  if (ParseUrlPrefix(added.text, &prefix) != PrefixError::kNone) return false;
  auto found = std::find_if(ports_.begin(), ports_.end(),
                            [&](const PortTable& table) { return table.port == prefix.port; });
  if (found == ports_.end()) {
    found = ports_.emplace(ports_.end());
    found->port = prefix.port;
  }
  ++(prefix.is_https ? found->secure_count : found->plain_count);
  prefixes_.Insert(prefixes_.LowerBound(added.id), Prefix{added, prefix.path.size()});
  // Accept a duplicate with the other scheme: its registration refuses it later, with a reason.
  if (found->table.Add(prefix, added.id)) return true;
  shadowed_.push_back(added);
  return found->plain_count != 0 && found->secure_count != 0;
}

void ServerConfig::RemovePrefix(uint32_t id) {
  const auto at = prefixes_.LowerBound(id);
  const Prefix* there = prefixes_.At(at);
  if (there == nullptr || there->id != id) return;
  UrlPrefix prefix;
  (void)ParseUrlPrefix(there->text, &prefix);
  prefixes_.Erase(at);
  const auto found = std::find_if(ports_.begin(), ports_.end(), [&](const PortTable& table) {
    return table.port == prefix.port;
  });
  --(prefix.is_https ? found->secure_count : found->plain_count);
  const auto has_id = [=](const NumberedPrefix& each) { return each.id == id; };
  if (std::erase_if(shadowed_, has_id) == 0) {
    (void)found->table.Remove(prefix);
    // A shadowed prefix may now get into the table.
    std::erase_if(shadowed_, [&](const NumberedPrefix& each) {
      UrlPrefix other;
      (void)ParseUrlPrefix(each.text, &other);
      return other.port == prefix.port && found->table.Add(other, each.id);
    });
  }
  if (found->plain_count + found->secure_count == 0) ports_.erase(found);
}

std::string ServerConfig::PrefixText(uint32_t id) const {
  const Prefix* there = prefixes_.Find(id);
  return there == nullptr ? std::string() : there->text;
}

// Without prefixes, the path above the folder is "/": one byte.
StaticMounts::Found ServerConfig::FindStatic(uint32_t prefix_id, std::string_view path) const {
  const Prefix* there = has_prefixes() ? prefixes_.Find(prefix_id) : nullptr;
  return statics_->Find(prefix_id, there == nullptr ? 1 : there->path_bytes, path);
}

Route ServerConfig::FindPrefix(uint16_t local_port, const http1::RequestHead& head,
                               const LocalAddress& local) const {
  if (!has_prefixes()) return {RouteStatus::kMatch, 0};
  const HostName host = http1::HostOf(head);
  if (!host.is_valid) return {RouteStatus::kBadHost, 0};
  if (ports_.empty()) return {RouteStatus::kUnknownHost, 0};
  const PortTable* port = &ports_[0];
  // Compare the port only if there are several: the single listener may have another port number.
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
  return !has_prefixes() || IsSecure(local_port, local) ? tls_ : nullptr;
}

// Returns a place. If the address is no IP address, its bytes are left out.
ServerConfig::Spoken::Place ServerConfig::Spoken::At(uint16_t port, bool is_https,
                                                     const LocalAddress& address) {
  if (!address.is_ip) return {port, is_https, false, {}};
  return {port, is_https, true, address.ip};
}

void ServerConfig::ChangePlace(const SpokenPlace& changed) {
  const auto& [port, is_https, address, is_there] = changed;
  const Spoken::Place place = Spoken::At(port, is_https, address);
  const auto at = places_.LowerBound(place);
  const Spoken* there = places_.At(at);
  const bool is_known = there != nullptr && there->place == place;
  if (is_there && !is_known) (void)places_.Insert(at, {place});
  if (!is_there && is_known) places_.Erase(at);
}

bool ServerConfig::Speaks(uint16_t port, bool is_https, const LocalAddress& address) const {
  return places_.Find(Spoken::At(port, is_https, address)) != nullptr;
}

// True if connections to this port and address use TLS. If a port has both kinds, its prefixes are
// bound to addresses, and the address decides; otherwise the port decides.
bool ServerConfig::IsSecure(uint16_t port, const LocalAddress& local) const {
  if (Speaks(port, false, {})) {
    return Speaks(port, true, {}) || (local.is_ip && Speaks(port, true, local));
  }
  const Spoken* first = places_.At(places_.LowerBound(Spoken::At(port, true, {})));
  return first != nullptr && std::get<0>(first->place) == port;
}

}  // namespace httpsys::engine
