#pragma once
// The sending side of permessage-deflate (RFC 7692).

#include <string_view>

#include "websocket/byte_buffer.h"
#include "websocket/zlib_pool.h"

namespace httpsys::websocket {

class Deflater : public ZlibUser {
 public:
  // Without `takes_over` (server_no_context_takeover, or our own choice, which needs no consent),
  // every message is compressed by itself. Then any number of WebSockets with the same parameters
  // may share one Deflater, and one result may be sent to all of them; see ForgetContext().
  Deflater(ZlibPool* pool, const ZlibParameters& parameters, bool takes_over)
      : ZlibUser(pool, true, parameters, takes_over) {}

  // Appends the compressed payload of a frame to `out`, for the last frame of a message without the
  // 00 00 ff ff of RFC 7692, section 7.2.1. Returns false if out of memory: the WebSocket must not
  // be used any more then.
  bool Deflate(std::string_view payload, bool is_last_of_message, ByteBuffer* out);

  // Must be called when a compressed message that another Deflater has made is sent on this
  // WebSocket: references of this one to earlier messages would be wrong afterwards.
  void ForgetContext() { Drop(); }
};

}  // namespace httpsys::websocket
