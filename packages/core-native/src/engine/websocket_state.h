#pragma once
// What a lane knows of a WebSocket beside its connection.

#include <cstdint>
#include <memory>

#include "websocket/deflater.h"
#include "websocket/inflater.h"
#include "websocket/message_reader.h"

namespace httpsys::engine {

// Thread: the lane. Freed with its connection, and so after every call that uses its reader.
struct WebSocketState {
  WebSocketState(const websocket::ReaderOptions& options,
                 std::unique_ptr<websocket::Inflater> inflater)
      : inflater(std::move(inflater)), reader(options, this->inflater.get()) {}

  std::unique_ptr<websocket::Inflater> inflater;  // With permessage-deflate only.
  // With permessage-deflate, from the first compressed message, unless each stands alone.
  std::unique_ptr<websocket::Deflater> deflater;
  websocket::MessageReader reader;
  websocket::ZlibParameters parameters;  // Of the deflater.
  uint32_t threshold = 0;  // Bytes; a shorter message that stands alone goes as it is.
  uint32_t pongs_max = 0;  // Unsent; 0 = any number.
  bool deflates = false;
  bool stands_alone = false;  // server_no_context_takeover.
  bool answers_pings = false;
  bool is_close_sent = false;
  bool is_in_message = false;   // A frame without kFrameFin was sent.
  bool is_compressing = false;  // That message.
};

}  // namespace httpsys::engine
