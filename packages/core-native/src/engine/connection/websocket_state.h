#pragma once
// What a lane knows of a WebSocket beside its connection.

#include <cstdint>
#include <memory>

#include "websocket/deflater.h"
#include "websocket/inflater.h"
#include "websocket/message_reader.h"

namespace httpsys::engine {

// Thread: the lane. Freed with its connection, and so after every call that uses its reader. There
// are many, and most are idle: small.
struct WebSocketState {
  std::unique_ptr<websocket::Inflater> inflater;  // With permessage-deflate only.
  // With permessage-deflate, from the first compressed message, unless each stands alone.
  std::unique_ptr<websocket::Deflater> deflater;
  // Only within a message, and from the end on.
  std::unique_ptr<websocket::MessageReader> reader;
  websocket::ReaderOptions options;
  websocket::ZlibParameters parameters;  // Of the deflater.
  uint32_t threshold = 0;  // Bytes; a shorter message that stands alone goes as it is.
  uint32_t pongs_max = 0;  // Unsent; 0 = any number.
  bool deflates : 1 = false;
  bool stands_alone : 1 = false;  // server_no_context_takeover.
  bool answers_pings : 1 = false;
  bool is_close_sent : 1 = false;
  bool is_in_message : 1 = false;   // A frame without kFrameFin was sent.
  bool is_compressing : 1 = false;  // That message.
};

// What malloc() gives for 64 bytes.
static_assert(sizeof(WebSocketState) <= 56);

}  // namespace httpsys::engine
