#include "win/server_session.h"

namespace httpsys::win {

std::unique_ptr<ServerSession> ServerSession::Open(uint32_t* error) {
  std::unique_ptr<ServerSession> session(new ServerSession);
  const HTTPAPI_VERSION version = HTTPAPI_VERSION_2;
  *error = HttpInitialize(version, HTTP_INITIALIZE_SERVER, nullptr);
  if (*error != NO_ERROR) return nullptr;
  session->is_initialized_ = true;
  *error = HttpCreateServerSession(version, &session->id_, 0);
  if (*error != NO_ERROR) return nullptr;
  return session;
}

ServerSession::~ServerSession() {
  if (id_ != 0) HttpCloseServerSession(id_);
  if (is_initialized_) HttpTerminate(HTTP_INITIALIZE_SERVER, nullptr);
}

}  // namespace httpsys::win
