#pragma once
// The WebSocket part of a connection.

#include <cstdint>
#include <memory>

#include "websocket/deflater.h"
#include "websocket/inflater.h"
#include "websocket/message_reader.h"

namespace httpsys::engine {

// Thread: the lane. Freed with its connection, so never during a call that uses its reader. Kept
// small, because there are many WebSockets and most are idle.
struct WebSocketState {
  // Decompresses received messages; nullptr without permessage-deflate.
  std::unique_ptr<websocket::Inflater> inflater;
  // Compresses sent messages. Made for the first message that needs it: with context takeover any
  // compressed message, otherwise a compressed message in several frames. Other messages use a
  // deflater of the lane.
  std::unique_ptr<websocket::Deflater> deflater;
  // Reads messages. Set only within a message, and after the last message.
  std::unique_ptr<websocket::MessageReader> reader;
  websocket::ReaderOptions options;
  websocket::ZlibParameters parameters;  // The parameters for the deflater.
  // Without context takeover, messages of fewer bytes are not compressed.
  uint32_t threshold = 0;
  uint32_t pongs_max = 0;  // The number of pongs that may wait for the socket; 0 = no limit.
  // Outgoing messages may be compressed.
  bool deflates : 1 = false;
  bool stands_alone : 1 = false;  // server_no_context_takeover was negotiated.
  bool answers_pings : 1 = false;
  bool is_close_sent : 1 = false;
  // The last data frame sent had no kFrameFin: its message is not complete.
  bool is_in_message : 1 = false;
  bool is_compressing : 1 = false;  // The message that is being sent is compressed.
};

// Limits the memory of an idle WebSocket: glibc's malloc() takes 64 bytes for 56.
static_assert(sizeof(WebSocketState) <= 56);

}  // namespace httpsys::engine
