#pragma once

#include <cstdint>
#include <memory>

#include "win/http_api.h"

namespace httpsys::win {

// A server session of the HTTP Server API, to which URL groups belong. Thread: any, one at a time.
class ServerSession {
 public:
  // Opens a session. On failure, returns nullptr and sets the system's error code.
  static std::unique_ptr<ServerSession> Open(uint32_t* error);
  ServerSession& operator=(ServerSession&&) = delete;
  ~ServerSession();

  HTTP_SERVER_SESSION_ID id() const { return id_; }

 private:
  ServerSession() = default;

  bool is_initialized_ = false;
  HTTP_SERVER_SESSION_ID id_ = 0;
};

}  // namespace httpsys::win
