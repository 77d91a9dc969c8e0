#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "win/http_api.h"

namespace httpsys::win {

class KernelQueue;
class ServerSession;

// One URL and where its requests go. A group each, because Wine allows no second URL in a group.
// Thread: any, one at a time. The session and the queue must outlive it.
class UrlGroup {
 public:
  // Requests below `url` (UTF-8) arrive in the queue with this context. nullptr and the system's
  // error code when the URL is refused.
  static std::unique_ptr<UrlGroup> Open(const ServerSession& session, const KernelQueue& queue,
                                        const std::string& url, HTTP_URL_CONTEXT context,
                                        uint32_t* error);
  UrlGroup(const UrlGroup&) = delete;
  UrlGroup& operator=(const UrlGroup&) = delete;
  // The URL is free for others when it returns.
  ~UrlGroup();

 private:
  UrlGroup() = default;

  HTTP_URL_GROUP_ID id_ = 0;
  std::wstring url_;  // Empty until it is registered.
};

}  // namespace httpsys::win
