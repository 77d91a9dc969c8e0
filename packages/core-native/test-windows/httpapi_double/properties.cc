#include "properties.h"

#include "kernel.h"
#include "text.h"

namespace httpapi_double {
namespace {

// Limits of bandwidth, in bytes per second:
// HTTP_MIN_ALLOWED_BANDWIDTH_THROTTLING_RATE, and "none".
constexpr ULONG kBandwidthMin = 1024;
constexpr ULONG kNoLimit = 0xffff'ffff;
constexpr ULONG kSchemes = 0x1f;
// HttpServerDelegationProperty is newer than this header.
constexpr int kDelegationProperty = 16;

bool IsFor(PropertyOwner owner, int property) {
  switch (property) {
    case HttpServerStateProperty:
      return true;
    case HttpServerQueueLengthProperty:
    case HttpServer503VerbosityProperty:
      return owner == PropertyOwner::kQueue;
    case HttpServerBindingProperty:
    case HttpServerListenEndpointProperty:
    case kDelegationProperty:
      return owner == PropertyOwner::kGroup;
    case HttpServerAuthenticationProperty:
    case HttpServerLoggingProperty:
    case HttpServerQosProperty:
    case HttpServerTimeoutsProperty:
    case HttpServerExtendedAuthenticationProperty:
    case HttpServerChannelBindProperty:
      return owner != PropertyOwner::kQueue;
    default:
      return false;
  }
}

size_t SizeOf(PropertyOwner owner, int property) {
  switch (property) {
    case HttpServerStateProperty:
      return owner == PropertyOwner::kQueue ? sizeof(HTTP_ENABLED_STATE) : sizeof(HTTP_STATE_INFO);
    case HttpServerQueueLengthProperty:
    case HttpServer503VerbosityProperty:
      return sizeof(ULONG);
    case HttpServerBindingProperty:
      return sizeof(HTTP_BINDING_INFO);
    case HttpServerListenEndpointProperty:
      return sizeof(HTTP_LISTEN_ENDPOINT_INFO);
    case HttpServerLoggingProperty:
      return sizeof(HTTP_LOGGING_INFO);
    case HttpServerQosProperty:
      return sizeof(HTTP_QOS_SETTING_INFO);
    case HttpServerTimeoutsProperty:
      return sizeof(HTTP_TIMEOUT_LIMIT_INFO);
    case HttpServerChannelBindProperty:
      return sizeof(HTTP_CHANNEL_BIND_INFO);
    default:
      return sizeof(HTTP_SERVER_AUTHENTICATION_INFO);
  }
}

std::string Member(const char* name, uint64_t value) {
  return ',' + JsonText(name) + ':' + std::to_string(value);
}

bool CheckQos(PropertyOwner owner, const HTTP_QOS_SETTING_INFO& info, std::string* json) {
  if (info.QosSetting == nullptr) return false;
  *json += Member("qosType", info.QosType);
  if (info.QosType == HttpQosSettingTypeBandwidth) {
    const auto& limit = *static_cast<const HTTP_BANDWIDTH_LIMIT_INFO*>(info.QosSetting);
    *json += Member("maxBandwidth", limit.MaxBandwidth);
    return limit.Flags.Present == 0 || limit.MaxBandwidth >= kBandwidthMin;
  }
  if (info.QosType != HttpQosSettingTypeConnectionLimit || owner != PropertyOwner::kGroup) {
    return false;
  }
  const auto& limit = *static_cast<const HTTP_CONNECTION_LIMIT_INFO*>(info.QosSetting);
  *json += Member("maxConnections", limit.MaxConnections);
  return limit.Flags.Present == 0 || limit.MaxConnections <= kNoLimit;
}

bool CheckLogging(const HTTP_LOGGING_INFO& info, std::string* json) {
  *json += Member("format", info.Format) + Member("fields", info.Fields);
  if (info.Flags.Present == 0) return true;
  if (info.DirectoryName == nullptr || info.DirectoryNameLength == 0) return false;
  const std::wstring_view folder(info.DirectoryName, info.DirectoryNameLength / sizeof(wchar_t));
  *json += ",\"directory\":" + JsonText(Narrow(folder));
  return info.Format <= HttpLoggingTypeRaw && info.RolloverType <= HttpLoggingRolloverHourly;
}

bool CheckTimeouts(const HTTP_TIMEOUT_LIMIT_INFO& info, std::string* json) {
  *json += Member("entityBody", info.EntityBody) + Member("drainEntityBody", info.DrainEntityBody) +
           Member("requestQueue", info.RequestQueue) +
           Member("idleConnection", info.IdleConnection) + Member("headerWait", info.HeaderWait) +
           Member("minSendRate", info.MinSendRate);
  return true;
}

bool CheckBinding(const HTTP_BINDING_INFO& info) {
  return info.Flags.Present == 0 || Kernel::Get().FindHandle(info.RequestQueueHandle) != nullptr;
}

bool CheckQueueValue(int property, ULONG value, std::string* json) {
  *json += Member("value", value);
  if (property == HttpServer503VerbosityProperty) return value <= Http503ResponseVerbosityFull;
  return property != HttpServerQueueLengthProperty || value != 0;
}

bool CheckValue(PropertyOwner owner, int property, const void* info, std::string* json) {
  if (owner == PropertyOwner::kQueue) {
    const ULONG value = *static_cast<const ULONG*>(info);
    if (property == HttpServerStateProperty && value > HttpEnabledStateInactive) return false;
    return CheckQueueValue(property, value, json);
  }
  switch (property) {
    case HttpServerStateProperty: {
      const auto& state = *static_cast<const HTTP_STATE_INFO*>(info);
      *json += Member("value", state.State);
      return state.State <= HttpEnabledStateInactive;
    }
    case HttpServerQosProperty:
      return CheckQos(owner, *static_cast<const HTTP_QOS_SETTING_INFO*>(info), json);
    case HttpServerTimeoutsProperty:
      return CheckTimeouts(*static_cast<const HTTP_TIMEOUT_LIMIT_INFO*>(info), json);
    case HttpServerBindingProperty:
      return CheckBinding(*static_cast<const HTTP_BINDING_INFO*>(info));
    case HttpServerLoggingProperty:
      return CheckLogging(*static_cast<const HTTP_LOGGING_INFO*>(info), json);
    case HttpServerAuthenticationProperty:
    case HttpServerExtendedAuthenticationProperty: {
      const auto& schemes = *static_cast<const HTTP_SERVER_AUTHENTICATION_INFO*>(info);
      *json += Member("schemes", schemes.AuthSchemes);
      return (schemes.AuthSchemes & ~kSchemes) == 0;
    }
    default:
      return true;
  }
}

}  // namespace

uint32_t CheckProperty(PropertyOwner owner, HTTP_SERVER_PROPERTY property, const void* info,
                       ULONG bytes, std::string* json) {
  constexpr const char* kOwners[] = {"session", "group", "queue"};
  *json = "{\"property\":" + std::to_string(property) +
          ",\"of\":" + JsonText(kOwners[static_cast<size_t>(owner)]);
  if (!IsFor(owner, property) || info == nullptr || bytes != SizeOf(owner, property) ||
      !CheckValue(owner, property, info, json)) {
    return ERROR_INVALID_PARAMETER;
  }
  *json += '}';
  return NO_ERROR;
}

}  // namespace httpapi_double
