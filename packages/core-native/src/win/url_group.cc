#include "win/url_group.h"

#include <algorithm>

#include "win/kernel_queue.h"
#include "win/server_session.h"
#include "win/wide_text.h"

namespace httpsys::win {
namespace {

// Limits a number of seconds to the largest value that the property accepts.
USHORT Seconds(uint32_t seconds) {
  return static_cast<USHORT>(std::min<uint32_t>(seconds, UINT16_MAX));
}

}  // namespace

std::unique_ptr<UrlGroup> UrlGroup::Open(const ServerSession& session, uint32_t* error) {
  HTTP_URL_GROUP_ID id = 0;
  *error = HttpCreateUrlGroup(session.id(), &id, 0);
  if (*error != NO_ERROR) return nullptr;
  return std::unique_ptr<UrlGroup>(new UrlGroup(id));
}

UrlGroup::~UrlGroup() {
  if (!url_.empty()) HttpRemoveUrlFromUrlGroup(id_, url_.c_str(), 0);
  HttpCloseUrlGroup(id_);
}

template <typename Info>
uint32_t UrlGroup::Set(HTTP_SERVER_PROPERTY property, Info* info) {
  return HttpSetUrlGroupProperty(id_, property, info, sizeof *info);
}

uint32_t UrlGroup::Apply(const KernelSettings& settings, const char** property) {
  *property = "timeouts";
  uint32_t error = SetTimeouts(settings);
  if (error == NO_ERROR) {
    *property = settings.max_bandwidth != 0 ? "maxBandwidth" : "maxConnections";
    error = SetQos(settings);
  }
  if (error == NO_ERROR && !settings.log_directory.empty()) {
    *property = "logging";
    error = SetLogging(settings);
  }
  if (error == NO_ERROR && settings.auth_schemes != 0) {
    *property = "authentication";
    error = SetAuthentication(settings);
  }
  return error;
}

uint32_t UrlGroup::SetTimeouts(const KernelSettings& settings) {
  HTTP_TIMEOUT_LIMIT_INFO info{};
  info.Flags.Present = 1;
  info.EntityBody = Seconds(settings.request_timeout);
  info.DrainEntityBody = Seconds(settings.drain_entity_body);
  info.RequestQueue = Seconds(settings.request_queue);
  info.IdleConnection = Seconds(settings.keep_alive_timeout);
  info.HeaderWait = Seconds(settings.headers_timeout);
  info.MinSendRate = settings.min_send_rate;
  return Set(HttpServerTimeoutsProperty, &info);
}

uint32_t UrlGroup::SetQos(const KernelSettings& settings) {
  if (settings.max_bandwidth != 0) {
    HTTP_BANDWIDTH_LIMIT_INFO limit{};
    limit.Flags.Present = 1;
    limit.MaxBandwidth = settings.max_bandwidth;
    HTTP_QOS_SETTING_INFO info{HttpQosSettingTypeBandwidth, &limit};
    const uint32_t error = Set(HttpServerQosProperty, &info);
    if (error != NO_ERROR) return error;
  }
  if (settings.max_connections == 0) return NO_ERROR;
  HTTP_CONNECTION_LIMIT_INFO limit{};
  limit.Flags.Present = 1;
  limit.MaxConnections = settings.max_connections;
  HTTP_QOS_SETTING_INFO info{HttpQosSettingTypeConnectionLimit, &limit};
  return Set(HttpServerQosProperty, &info);
}

uint32_t UrlGroup::SetLogging(const KernelSettings& settings) {
  const std::wstring directory = Widen(settings.log_directory);
  HTTP_LOGGING_INFO info{};
  info.Flags.Present = 1;
  info.DirectoryName = directory.c_str();
  info.DirectoryNameLength = static_cast<USHORT>(directory.size() * sizeof(wchar_t));
  info.Format = settings.log_is_ncsa ? HttpLoggingTypeNCSA : HttpLoggingTypeW3C;
  // The NCSA format has fixed fields.
  if (!settings.log_is_ncsa) info.Fields = kLogFields;
  info.RolloverType = static_cast<HTTP_LOGGING_ROLLOVER_TYPE>(settings.log_rollover);
  // 0 = the log file has no limit.
  if (info.RolloverType == HttpLoggingRolloverSize) info.RolloverSize = settings.log_bytes_max;
  return Set(HttpServerLoggingProperty, &info);
}

uint32_t UrlGroup::SetAuthentication(const KernelSettings& settings) {
  HTTP_SERVER_AUTHENTICATION_INFO info{};
  info.Flags.Present = 1;
  info.AuthSchemes = settings.auth_schemes;
  return Set(HttpServerAuthenticationProperty, &info);
}

uint32_t UrlGroup::Add(const KernelQueue& queue, const std::string& url, HTTP_URL_CONTEXT context) {
  HTTP_BINDING_INFO binding{};
  binding.Flags.Present = 1;
  binding.RequestQueueHandle = queue.handle();
  uint32_t error = Set(HttpServerBindingProperty, &binding);
  if (error != NO_ERROR) return error;
  std::wstring wide = Widen(url);
  error = HttpAddUrlToUrlGroup(id_, wide.c_str(), context, 0);
  if (error == NO_ERROR) url_ = std::move(wide);
  return error;
}

}  // namespace httpsys::win
