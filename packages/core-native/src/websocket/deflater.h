#pragma once
// The sending side of permessage-deflate (RFC 7692).

#include <string_view>

#include "websocket/byte_buffer.h"
#include "websocket/zlib_pool.h"

namespace httpsys::websocket {

class Deflater : public ZlibUser {
 public:
  // If `takes_over` is false (server_no_context_takeover, or our own choice, which needs no
  // consent), each message is compressed independently. Then any number of WebSockets with the same
  // parameters may share one Deflater and its results; see ForgetContext().
  Deflater(ZlibPool* pool, const ZlibParameters& parameters, bool takes_over)
      : ZlibUser(pool, true, parameters, takes_over) {}

  // Appends the compressed payload of a frame to `out`; without the final 00 00 ff ff of a message
  // (RFC 7692, section 7.2.1). Returns false if out of memory: the WebSocket is then unusable.
  bool Deflate(std::string_view payload, bool is_last_of_message, ByteBuffer* out);

  // Must be called when this WebSocket sends a compressed message that another Deflater has made:
  // otherwise this one's references to earlier messages would be wrong.
  void ForgetContext() { Drop(); }
};

}  // namespace httpsys::websocket
