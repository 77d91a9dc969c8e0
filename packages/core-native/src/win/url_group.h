#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "win/http_api.h"

namespace httpsys::win {

class KernelQueue;
class ServerSession;

// One URL and where its requests go. A group each, because Wine allows no second URL in a group.
// Thread: any, one at a time. The session and the queue must outlive it.
class UrlGroup {
 public:
  // nullptr and the system's error code on failure.
  static std::unique_ptr<UrlGroup> Open(const ServerSession& session, uint32_t* error);
  UrlGroup(const UrlGroup&) = delete;
  UrlGroup& operator=(const UrlGroup&) = delete;
  // The URL is free for others when it returns.
  ~UrlGroup();

  // The rest returns NO_ERROR or the system's error code.

  // Before Add(): what the settings ask for. On failure *property is what was refused, in the words
  // of the option httpSys.
  uint32_t Apply(const KernelSettings& settings, const char** property);
  // Requests below `url` (UTF-8) arrive in the queue with this context.
  uint32_t Add(const KernelQueue& queue, const std::string& url, HTTP_URL_CONTEXT context);

 private:
  explicit UrlGroup(HTTP_URL_GROUP_ID id) : id_(id) {}

  template <typename Info>
  uint32_t Set(HTTP_SERVER_PROPERTY property, Info* info);
  uint32_t SetTimeouts(const KernelSettings& settings);
  uint32_t SetQos(const KernelSettings& settings);
  uint32_t SetLogging(const KernelSettings& settings);
  uint32_t SetAuthentication(const KernelSettings& settings);

  const HTTP_URL_GROUP_ID id_;
  std::wstring url_;  // Empty until it is registered.
};

}  // namespace httpsys::win
