#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "win/http_api.h"

namespace httpsys::win {

class KernelQueue;
class ServerSession;

// One URL, and the queue that receives its requests. Each URL has its own group, because Wine
// allows only one in a group. The session and the queue must outlive it. Thread: any, one at a
// time.
class UrlGroup {
 public:
  // Makes a group. On failure, returns nullptr and sets the system's error code.
  static std::unique_ptr<UrlGroup> Open(const ServerSession& session, uint32_t* error);
  UrlGroup& operator=(UrlGroup&&) = delete;
  // Removes the URL: after the destructor, other processes can register it.
  ~UrlGroup();

  // Applies the settings. Must be called before Add(). Returns NO_ERROR or the system's error code;
  // after an error, *property names the refused member of the option httpSys.
  uint32_t Apply(const KernelSettings& settings, const char** property);
  // Registers `url` (UTF-8): requests below it arrive in the queue with this context. Returns
  // NO_ERROR or the system's error code.
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
  std::wstring url_;  // Empty until the URL is registered.
};

}  // namespace httpsys::win
