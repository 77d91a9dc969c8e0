#include "napi/server_settings.h"

#include <cstdint>

namespace httpsys {
namespace {

template <typename Number>
bool ReadNumber(Napi::Object from, const char* name, Number* to) {
  const Napi::Value value = from.Get(name);
  if (!value.IsNumber()) return false;
  const double number = value.As<Napi::Number>().DoubleValue();
  // Infinity, and every number beyond exact integers, is read as this one.
  constexpr auto kMost = static_cast<double>(uint64_t{1} << 53);
  const double limit = sizeof(Number) > 4 ? kMost : static_cast<double>(UINT32_MAX);
  *to = number >= limit ? static_cast<Number>(limit) : number > 0 ? static_cast<Number>(number) : 0;
  return true;
}

bool ReadBoolean(Napi::Object from, const char* name, bool* to) {
  const Napi::Value value = from.Get(name);
  if (!value.IsBoolean()) return false;
  *to = value.As<Napi::Boolean>();
  return true;
}

bool ReadHttp2(Napi::Object config, Http2Settings* settings) {
  const Napi::Value value = config.Get("http2");
  if (!value.IsObject()) return false;
  const Napi::Object from = value.As<Napi::Object>();
  return ReadBoolean(from, "plain", &settings->is_plain) &&
         ReadBoolean(from, "alone", &settings->is_alone) &&
         ReadNumber(from, "maxConcurrentStreams", &settings->max_concurrent_streams) &&
         ReadNumber(from, "initialWindowSize", &settings->initial_window_size) &&
         ReadNumber(from, "maxFrameSize", &settings->max_frame_size) &&
         ReadNumber(from, "headerTableSize", &settings->header_table_size) &&
         ReadNumber(from, "pingInterval", &settings->ping_interval) &&
         ReadNumber(from, "stallTimeout", &settings->stall_timeout);
}

bool ReadPlace(Napi::Value value, SpokenPlace* place) {
  if (!value.IsObject()) return false;
  const Napi::Object from = value.As<Napi::Object>();
  const Napi::Value address = from.Get("address");
  if (!address.IsString()) return false;
  const std::string text = address.As<Napi::String>();
  place->address.is_ip = ParseIpAddress(text, &place->address.ip);
  return (text.empty() || place->address.is_ip) && ReadNumber(from, "port", &place->port) &&
         ReadBoolean(from, "isHttps", &place->is_https) &&
         ReadBoolean(from, "isThere", &place->is_there);
}

bool ReadPlaces(Napi::Value value, std::vector<SpokenPlace>* places) {
  if (!value.IsArray()) return false;
  const Napi::Array list = value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    if (!ReadPlace(list.Get(i), &places->emplace_back())) return false;
  }
  return true;
}

bool ReadPrefixes(Napi::Object config, ServerPrefixes* prefixes) {
  const Napi::Value value = config.Get("prefixes");
  if (!value.IsObject()) return false;
  const Napi::Object from = value.As<Napi::Object>();
  const Napi::Value changes = from.Get("changes");
  return changes.IsArray() && ReadNumberedPrefixes(changes.As<Napi::Array>(), &prefixes->changes) &&
         ReadPlaces(from.Get("places"), &prefixes->places) &&
         ReadBoolean(from, "isEverything", &prefixes->is_everything) &&
         ReadBoolean(from, "isWhole", &prefixes->is_whole);
}

bool ReadStrings(Napi::Object from, const char* name, std::vector<std::string>* to) {
  const Napi::Value value = from.Get(name);
  if (!value.IsArray()) return false;
  *to = Strings(value.As<Napi::Array>());
  return to->size() == value.As<Napi::Array>().Length();
}

bool ReadString(Napi::Object from, const char* name, std::string* to) {
  const Napi::Value value = from.Get(name);
  if (!value.IsString()) return false;
  *to = value.As<Napi::String>();
  return true;
}

bool ReadCache(Napi::Object config, CacheSettings* cache) {
  return ReadNumber(config, "cacheRules", &cache->rules) && cache->rules <= 2 &&
         ReadNumber(config, "cacheDefaultSeconds", &cache->duration) &&
         ReadNumber(config, "cacheEntryBytesMax", &cache->max_entry_bytes) &&
         ReadNumber(config, "cacheStaleWhileRevalidate", &cache->stale_while_revalidate) &&
         ReadNumber(config, "cacheStaleIfError", &cache->stale_if_error) &&
         ReadNumber(config, "cacheRefreshMs", &cache->refresh_timeout) &&
         ReadNumber(config, "cacheCoalesceMs", &cache->coalesce_timeout) &&
         ReadNumber(config, "cacheFlags", &cache->flags) &&
         ReadNumber(config, "cacheCodings", &cache->compress) &&
         ReadStrings(config, "cachePrefixes", &cache->prefixes) &&
         ReadStrings(config, "cacheHarmlessFields", &cache->harmless_fields);
}

bool ReadStatic(Napi::Value value, StaticMount* mount) {
  if (!value.IsObject()) return false;
  const Napi::Object from = value.As<Napi::Object>();
  uint32_t dotfiles = 0;
  constexpr uint32_t kDotfilesMax = 2;
  if (!ReadNumber(from, "dotfiles", &dotfiles) || dotfiles > kDotfilesMax) return false;
  mount->dotfiles = static_cast<uint8_t>(dotfiles);
  return ReadBoolean(from, "isBelowAll", &mount->is_below_all) &&
         ReadNumber(from, "prefixId", &mount->prefix_id) &&
         ReadBoolean(from, "ownsPrefix", &mount->owns_prefix) &&
         ReadString(from, "path", &mount->path) && mount->path.starts_with('/') &&
         mount->path.ends_with('/') && ReadString(from, "root", &mount->root) &&
         ReadBoolean(from, "fallthrough", &mount->fallthrough) &&
         ReadBoolean(from, "redirect", &mount->redirect) &&
         ReadBoolean(from, "cacheControl", &mount->cache_control) &&
         ReadNumber(from, "maxAgeSeconds", &mount->max_age) &&
         ReadBoolean(from, "immutable", &mount->immutable) &&
         ReadBoolean(from, "etag", &mount->etag) &&
         ReadBoolean(from, "lastModified", &mount->last_modified) &&
         ReadBoolean(from, "acceptRanges", &mount->accept_ranges) &&
         ReadNumber(from, "precompressed", &mount->precompressed) &&
         ReadBoolean(from, "followsLinks", &mount->symlinks) &&
         ReadStrings(from, "index", &mount->index) &&
         ReadStrings(from, "extensions", &mount->extensions) &&
         ReadStrings(from, "types", &mount->types) && ReadStrings(from, "headers", &mount->headers);
}

bool ReadStatics(Napi::Object config, std::vector<StaticMount>* statics, bool* keeps_statics) {
  const Napi::Value value = config.Get("statics");
  *keeps_statics = value.IsNull();
  if (*keeps_statics) return true;
  if (!value.IsArray()) return false;
  const Napi::Array list = value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    if (!ReadStatic(list.Get(i), &statics->emplace_back())) return false;
  }
  return true;
}

}  // namespace

bool ReadNumberedPrefixes(Napi::Array list, std::vector<NumberedPrefix>* prefixes) {
  for (uint32_t i = 0; i < list.Length(); ++i) {
    const Napi::Value item = list.Get(i);
    if (!item.IsObject()) return false;
    const Napi::Value id = item.As<Napi::Object>().Get("id");
    const Napi::Value text = item.As<Napi::Object>().Get("text");
    if (!id.IsNumber() || !text.IsString()) return false;
    prefixes->push_back({id.As<Napi::Number>().Uint32Value(), text.As<Napi::String>()});
  }
  return true;
}

std::vector<std::string> Strings(Napi::Array array) {
  std::vector<std::string> strings;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value item = array.Get(i);
    if (item.IsString()) strings.push_back(item.As<Napi::String>());
  }
  return strings;
}

bool ReadServerSettings(Napi::Object config, ServerSettings* settings) {
  uint32_t verbosity = 0;
  if (!ReadNumber(config, "verbosity503", &verbosity) ||
      verbosity > static_cast<uint32_t>(Http503Verbosity::kFull)) {
    return false;
  }
  settings->http_503_verbosity = static_cast<Http503Verbosity>(verbosity);
  return ReadPrefixes(config, &settings->prefixes) &&
         ReadStatics(config, &settings->statics, &settings->keeps_statics) &&
         ReadCache(config, &settings->cache) && ReadBackendSettings(config, settings) &&
         ReadHttp2(config, &settings->http2) &&
         ReadNumber(config, "maxConnectionsPerAddress", &settings->max_connections_per_address) &&
         ReadNumber(config, "maxConnectionsPerPrefix", &settings->max_connections_per_prefix) &&
         ReadNumber(config, "queueLimit", &settings->queue_limit) &&
         ReadNumber(config, "queueTimeout", &settings->queue_timeout) &&
         ReadNumber(config, "minSendRate", &settings->min_send_rate) &&
         ReadNumber(config, "sendRateMs", &settings->send_rate_ms) &&
         ReadNumber(config, "maxBandwidth", &settings->max_bandwidth) &&
         ReadNumber(config, "maxHeaderSize", &settings->max_header_size) &&
         ReadNumber(config, "maxHeaderLines", &settings->max_header_lines) &&
         ReadNumber(config, "maxRequestBodySize", &settings->max_request_body_size) &&
         ReadNumber(config, "pipelinedRequestsMax", &settings->pipelined_requests_max) &&
         ReadBoolean(config, "allowHalfOpen", &settings->allow_half_open) &&
         ReadBoolean(config, "wantsErrors", &settings->wants_errors) &&
         ReadBoolean(config, "hearsUpgrades", &settings->hears_upgrades) &&
         ReadBoolean(config, "hearsTimeouts", &settings->hears_timeouts) &&
         ReadBoolean(config, "requiresHost", &settings->requires_host) &&
         ReadBoolean(config, "strictUrl", &settings->strict_url) &&
         ReadBoolean(config, "serverHeader", &settings->server_header) &&
         ReadBoolean(config, "endsIdle", &settings->ends_idle) &&
         ReadBoolean(config, "isOpening", &settings->is_opening) &&
         ReadNumber(config, "idleMs", &settings->idle_ms) &&
         ReadNumber(config, "keepAliveMs", &settings->keep_alive_ms) &&
         ReadNumber(config, "maxRequestsPerSocket", &settings->max_requests_per_socket) &&
         ReadBoolean(config, "wantsTlsErrors", &settings->wants_tls_errors) &&
         ReadBoolean(config, "noDelay", &settings->no_delay) &&
         ReadBoolean(config, "keepAlive", &settings->keep_alive) &&
         ReadNumber(config, "keepAliveInitialDelay", &settings->keep_alive_initial_delay);
}

}  // namespace httpsys
