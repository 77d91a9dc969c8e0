#include "engine/connection/http2_state.h"

#include "http2/nghttp2_api.h"

namespace httpsys::engine {

Http2State::~Http2State() {
  if (session != nullptr) http2::NgApi::Get()->session_del(session);
}

}  // namespace httpsys::engine
