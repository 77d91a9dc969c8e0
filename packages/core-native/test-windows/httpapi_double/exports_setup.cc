// Exported: what servers, groups, queues and their properties are made with.

#include <cstring>
#include <fstream>
#include <utility>

#include "api_call.h"
#include "control.h"
#include "properties.h"
#include "request_queue.h"
#include "text.h"

namespace httpapi_double {
namespace {

bool IsVersion2(HTTPAPI_VERSION version) {
  return version.HttpApiMajorVersion == 2 && version.HttpApiMinorVersion == 0;
}

std::string BytesOf(const void* info, ULONG bytes) {
  return {static_cast<const char*>(info), bytes};
}

// What was set is told again.
ULONG Answer(const std::map<int, std::string>& properties, int property, void* info, ULONG bytes,
             ULONG* needed) {
  const auto found = properties.find(property);
  if (found == properties.end()) return ERROR_INVALID_PARAMETER;
  if (needed != nullptr) *needed = static_cast<ULONG>(found->second.size());
  if (info == nullptr || bytes < found->second.size()) return ERROR_MORE_DATA;
  std::memcpy(info, found->second.data(), found->second.size());
  return NO_ERROR;
}

void Bind(Kernel* kernel, const HTTP_BINDING_INFO& info, UrlGroup* group) {
  const HandleRef handle = kernel->FindHandle(info.RequestQueueHandle);
  group->queue = info.Flags.Present != 0 && handle != nullptr ? handle->queue() : nullptr;
}

}  // namespace
}  // namespace httpapi_double

using namespace httpapi_double;

extern "C" {

HTTPAPI_LINKAGE ULONG WINAPI HttpInitialize(HTTPAPI_VERSION version, ULONG flags, PVOID reserved) {
  const void* caller = __builtin_return_address(0);
  return Do("HttpInitialize", [&](Kernel& kernel) -> ULONG {
    constexpr ULONG kFlags = HTTP_INITIALIZE_SERVER | HTTP_INITIALIZE_CONFIG;
    if (reserved != nullptr || flags == 0 || (flags & ~kFlags) != 0) return ERROR_INVALID_PARAMETER;
    if (!IsVersion2(version)) return ERROR_REVISION_MISMATCH;
    InterceptImportsOf(caller);
    kernel.Start();
    ++kernel.initialized;
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpTerminate(ULONG flags, PVOID reserved) {
  return Do("HttpTerminate", [&](Kernel& kernel) -> ULONG {
    if (reserved != nullptr || flags == 0 || kernel.initialized == 0) {
      return ERROR_INVALID_PARAMETER;
    }
    --kernel.initialized;
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCreateServerSession(HTTPAPI_VERSION version,
                                                     PHTTP_SERVER_SESSION_ID id, ULONG reserved) {
  return Do("HttpCreateServerSession", [&](Kernel& kernel) -> ULONG {
    if (!IsVersion2(version)) return ERROR_REVISION_MISMATCH;
    if (id == nullptr || reserved != 0) return ERROR_INVALID_PARAMETER;
    if (kernel.initialized == 0) return ERROR_DLL_INIT_FAILED;
    *id = kernel.NextId();
    kernel.sessions[*id] = {};
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCloseServerSession(HTTP_SERVER_SESSION_ID id) {
  return Do("HttpCloseServerSession", [&](Kernel& kernel) -> ULONG {
    if (kernel.sessions.erase(id) == 0) return ERROR_INVALID_PARAMETER;
    std::erase_if(kernel.groups, [id](const auto& item) { return item.second.session == id; });
    kernel.CloseUnusedListeners();
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCreateUrlGroup(HTTP_SERVER_SESSION_ID session,
                                                PHTTP_URL_GROUP_ID id, ULONG reserved) {
  return Do("HttpCreateUrlGroup", [&](Kernel& kernel) -> ULONG {
    if (id == nullptr || reserved != 0 || !kernel.sessions.contains(session)) {
      return ERROR_INVALID_PARAMETER;
    }
    *id = kernel.NextId();
    kernel.groups[*id].session = session;
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCloseUrlGroup(HTTP_URL_GROUP_ID id) {
  return Do("HttpCloseUrlGroup", [&](Kernel& kernel) -> ULONG {
    if (kernel.groups.erase(id) == 0) return ERROR_INVALID_PARAMETER;
    kernel.CloseUnusedListeners();
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpAddUrlToUrlGroup(HTTP_URL_GROUP_ID id, PCWSTR text,
                                                  HTTP_URL_CONTEXT context, ULONG reserved) {
  return Do("HttpAddUrlToUrlGroup", [&](Kernel& kernel) -> ULONG {
    const auto found = kernel.groups.find(id);
    UrlPrefix prefix;
    if (found == kernel.groups.end() || text == nullptr || reserved != 0 ||
        !ParseUrlPrefix(text, false, &prefix)) {
      return ERROR_INVALID_PARAMETER;
    }
    for (const auto& [other, group] : kernel.groups) {
      for (const UrlGroup::Url& url : group.urls) {
        if (url.prefix == prefix) return ERROR_ALREADY_EXISTS;
      }
    }
    const uint32_t error = kernel.Listen(prefix.port, prefix.is_secure);
    if (error != NO_ERROR) return error;
    found->second.urls.push_back({text, prefix, context});
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpRemoveUrlFromUrlGroup(HTTP_URL_GROUP_ID id, PCWSTR text,
                                                       ULONG flags) {
  constexpr ULONG kAll = 1;  // HTTP_URL_FLAG_REMOVE_ALL
  return Do("HttpRemoveUrlFromUrlGroup", [&](Kernel& kernel) -> ULONG {
    const auto found = kernel.groups.find(id);
    if (found == kernel.groups.end() || (flags & ~kAll) != 0 ||
        (text == nullptr) != (flags == kAll)) {
      return ERROR_INVALID_PARAMETER;
    }
    const size_t removed = std::erase_if(found->second.urls, [&](const UrlGroup::Url& url) {
      return flags == kAll || url.text == text;
    });
    kernel.CloseUnusedListeners();
    return removed != 0 || flags == kAll ? NO_ERROR : ERROR_FILE_NOT_FOUND;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCreateRequestQueue(HTTPAPI_VERSION version, PCWSTR name,
                                                    PSECURITY_ATTRIBUTES security, ULONG flags,
                                                    PHANDLE out) {
  constexpr ULONG kOpens = 1;         // HTTP_CREATE_REQUEST_QUEUE_FLAG_OPEN_EXISTING
  constexpr ULONG kIsController = 2;  // HTTP_CREATE_REQUEST_QUEUE_FLAG_CONTROLLER
  const void* caller = __builtin_return_address(0);
  return Do("HttpCreateRequestQueue", [&](Kernel& kernel) -> ULONG {
    if (!IsVersion2(version)) return ERROR_REVISION_MISMATCH;
    if (kernel.initialized == 0) return ERROR_DLL_INIT_FAILED;
    const std::wstring wanted = name != nullptr ? name : L"";
    if (out == nullptr || wanted.size() * sizeof(wchar_t) > MAX_PATH ||
        (flags & ~(kOpens | kIsController)) != 0 || flags == (kOpens | kIsController)) {
      return ERROR_INVALID_PARAMETER;
    }
    QueueRef queue = wanted.empty() ? nullptr : kernel.FindQueue(wanted);
    if (flags == kOpens) {
      if (wanted.empty() || security != nullptr) return ERROR_INVALID_PARAMETER;
      if (queue == nullptr) return ERROR_FILE_NOT_FOUND;
    } else if (queue != nullptr) {
      return ERROR_ALREADY_EXISTS;
    } else {
      queue = std::make_shared<RequestQueue>();
      queue->name = wanted;
    }
    InterceptImportsOf(caller);
    ++queue->handles;
    kernel.handles.push_back(std::make_shared<QueueHandle>(queue, flags == kIsController));
    *out = kernel.handles.back()->value();
    kernel.ledger.Note("{\"queue\":" + JsonText(Narrow(wanted)) +
                       ",\"flags\":" + std::to_string(flags) + '}');
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpCloseRequestQueue(HANDLE queue) {
  return Do("HttpCloseRequestQueue", [&](Kernel& kernel) -> ULONG {
    const HandleRef handle = kernel.FindHandle(queue);
    if (handle == nullptr) return ERROR_INVALID_HANDLE;
    kernel.ledger.Note("{\"closed\":" + JsonText(Narrow(handle->queue()->name)) + '}');
    kernel.CloseHandleOf(handle);
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpShutdownRequestQueue(HANDLE queue) {
  return Do("HttpShutdownRequestQueue", [&](Kernel& kernel) -> ULONG {
    const HandleRef handle = kernel.FindHandle(queue);
    if (handle == nullptr) return ERROR_INVALID_HANDLE;
    kernel.ShutDownHandle(handle);
    kernel.ledger.Note("{\"shutDown\":" + JsonText(Narrow(handle->queue()->name)) + '}');
    return NO_ERROR;
  });
}

// -- Properties.

HTTPAPI_LINKAGE ULONG WINAPI HttpSetServerSessionProperty(HTTP_SERVER_SESSION_ID id,
                                                          HTTP_SERVER_PROPERTY property, PVOID info,
                                                          ULONG bytes) {
  return Do("HttpSetServerSessionProperty", [&](Kernel& kernel) -> ULONG {
    const auto found = kernel.sessions.find(id);
    if (found == kernel.sessions.end()) return ERROR_INVALID_PARAMETER;
    std::string json;
    const uint32_t error = CheckProperty(PropertyOwner::kSession, property, info, bytes, &json);
    if (error != NO_ERROR) return error;
    kernel.ledger.Note(json);
    found->second.properties[property] = BytesOf(info, bytes);
    if (property == HttpServerStateProperty) {
      found->second.state = static_cast<const HTTP_STATE_INFO*>(info)->State;
    }
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpQueryServerSessionProperty(HTTP_SERVER_SESSION_ID id,
                                                            HTTP_SERVER_PROPERTY property,
                                                            PVOID info, ULONG bytes,
                                                            PULONG needed) {
  return Do("HttpQueryServerSessionProperty", [&](Kernel& kernel) -> ULONG {
    const auto found = kernel.sessions.find(id);
    if (found == kernel.sessions.end()) return ERROR_INVALID_PARAMETER;
    return Answer(found->second.properties, property, info, bytes, needed);
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpSetUrlGroupProperty(HTTP_URL_GROUP_ID id,
                                                     HTTP_SERVER_PROPERTY property, PVOID info,
                                                     ULONG bytes) {
  return Do("HttpSetUrlGroupProperty", [&](Kernel& kernel) -> ULONG {
    const auto found = kernel.groups.find(id);
    if (found == kernel.groups.end()) return ERROR_INVALID_PARAMETER;
    std::string json;
    const uint32_t error = CheckProperty(PropertyOwner::kGroup, property, info, bytes, &json);
    if (error != NO_ERROR) return error;
    kernel.ledger.Note(json);
    found->second.properties[property] = BytesOf(info, bytes);
    if (property == HttpServerStateProperty) {
      found->second.state = static_cast<const HTTP_STATE_INFO*>(info)->State;
    } else if (property == HttpServerAuthenticationProperty) {
      const auto& schemes = *static_cast<const HTTP_SERVER_AUTHENTICATION_INFO*>(info);
      found->second.auth_schemes = schemes.Flags.Present != 0 ? schemes.AuthSchemes : 0;
    } else if (property == HttpServerBindingProperty) {
      Bind(&kernel, *static_cast<const HTTP_BINDING_INFO*>(info), &found->second);
    }
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpQueryUrlGroupProperty(HTTP_URL_GROUP_ID id,
                                                       HTTP_SERVER_PROPERTY property, PVOID info,
                                                       ULONG bytes, PULONG needed) {
  return Do("HttpQueryUrlGroupProperty", [&](Kernel& kernel) -> ULONG {
    const auto found = kernel.groups.find(id);
    if (found == kernel.groups.end()) return ERROR_INVALID_PARAMETER;
    return Answer(found->second.properties, property, info, bytes, needed);
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpSetRequestQueueProperty(HANDLE queue,
                                                         HTTP_SERVER_PROPERTY property, PVOID info,
                                                         ULONG bytes, ULONG reserved,
                                                         PVOID reserved2) {
  return Do("HttpSetRequestQueueProperty", [&](Kernel& kernel) -> ULONG {
    const HandleRef handle = kernel.FindHandle(queue);
    if (handle == nullptr) return ERROR_INVALID_HANDLE;
    if (reserved != 0 || reserved2 != nullptr) return ERROR_INVALID_PARAMETER;
    std::string json;
    const uint32_t error = CheckProperty(PropertyOwner::kQueue, property, info, bytes, &json);
    if (error != NO_ERROR) return error;
    kernel.ledger.Note(json);
    const ULONG value = *static_cast<const ULONG*>(info);
    if (property == HttpServerQueueLengthProperty) {
      handle->queue()->length = value;
    } else if (property == HttpServer503VerbosityProperty) {
      handle->queue()->verbosity = value;
    } else {
      handle->queue()->state = static_cast<HTTP_ENABLED_STATE>(value);
    }
    return NO_ERROR;
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpQueryRequestQueueProperty(HANDLE queue,
                                                           HTTP_SERVER_PROPERTY property,
                                                           PVOID info, ULONG bytes, ULONG reserved,
                                                           PULONG needed, PVOID reserved2) {
  return Do("HttpQueryRequestQueueProperty", [&](Kernel& kernel) -> ULONG {
    const HandleRef handle = kernel.FindHandle(queue);
    if (handle == nullptr) return ERROR_INVALID_HANDLE;
    if (reserved != 0 || reserved2 != nullptr) return ERROR_INVALID_PARAMETER;
    const RequestQueue& of = *handle->queue();
    const auto text = [](ULONG value) { return BytesOf(&value, sizeof value); };
    return Answer({{HttpServerQueueLengthProperty, text(of.length)},
                   {HttpServer503VerbosityProperty, text(of.verbosity)},
                   {HttpServerStateProperty, text(of.state)}},
                  property, info, bytes, needed);
  });
}

// -- Configuration.

HTTPAPI_LINKAGE ULONG WINAPI HttpSetServiceConfiguration(HANDLE service, HTTP_SERVICE_CONFIG_ID id,
                                                         PVOID info, ULONG bytes,
                                                         LPOVERLAPPED overlapped) {
  return Do("HttpSetServiceConfiguration", [&](Kernel& kernel) -> ULONG {
    if (service != nullptr || overlapped != nullptr) return ERROR_INVALID_PARAMETER;
    return kernel.config.Set(id, info, bytes);
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpDeleteServiceConfiguration(HANDLE service,
                                                            HTTP_SERVICE_CONFIG_ID id, PVOID info,
                                                            ULONG bytes, LPOVERLAPPED overlapped) {
  return Do("HttpDeleteServiceConfiguration", [&](Kernel& kernel) -> ULONG {
    if (service != nullptr || overlapped != nullptr) return ERROR_INVALID_PARAMETER;
    return kernel.config.Delete(id, info, bytes);
  });
}

HTTPAPI_LINKAGE ULONG WINAPI HttpQueryServiceConfiguration(HANDLE service,
                                                           HTTP_SERVICE_CONFIG_ID id, PVOID query,
                                                           ULONG query_bytes, PVOID memory,
                                                           ULONG bytes, PULONG needed,
                                                           LPOVERLAPPED overlapped) {
  return Do("HttpQueryServiceConfiguration", [&](Kernel& kernel) -> ULONG {
    ULONG size = 0;
    if (service != nullptr || overlapped != nullptr) return ERROR_INVALID_PARAMETER;
    return kernel.config.Query(id, query, query_bytes, memory, bytes,
                               needed != nullptr ? needed : &size);
  });
}

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, LPVOID) {
  if (reason != DLL_PROCESS_DETACH) return TRUE;
  char path[MAX_PATH] = "";
  const DWORD length = GetEnvironmentVariableA(kReportVariable, path, sizeof path);
  // Other threads were ended wherever they were: no lock.
  if (length > 0 && length < sizeof path) std::ofstream(path) << Report();
  return TRUE;
}

}  // extern "C"
