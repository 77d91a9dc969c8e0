#pragma once
// WebSockets on a lane's connections: turns bytes into message records, frame records into bytes.

#include <uv.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/protocol.h"
#include "engine/connection/protocol_states.h"
#include "engine/connection/transport.h"
#include "records/replies.h"
#include "websocket/zlib_pool.h"

namespace httpsys::engine {

// Thread: the lane.
class WebSocketSession final : public Protocol {
 public:
  WebSocketSession(uv_loop_t* loop, BlockPool* pool, Transport* transport, Input* input);
  WebSocketSession& operator=(WebSocketSession&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // -- Input.

  // Returns memory for the next input: that of a partly read message if it has any, else `shared`.
  std::span<char> Room(Connection* connection, std::span<char> shared) override;
  void OnReceived(Connection* connection, size_t bytes) override;
  // Unmasks the input in place: its memory is overwritten.
  Advance OnReadable(Connection* connection, std::string_view input, size_t* used) override;
  void OnEof(Connection* connection) override;
  void OnTimeout(Connection* connection) override { transport_->Close(connection, 0); }
  bool OnReply(Connection* connection, const ReplyRecord& reply) override;

  // -- Replies of JavaScript. A record for a connection that is no WebSocket, or with an unknown
  // block, is a mistake as in ReplyReader::End().

  // Handles the records kBroadcast and kBroadcastBlock, which list their connections.
  void OnBroadcast(Attachment* from, const ReplyRecord& reply);

 private:
  class Delivery;
  struct Frame;
  // Bytes that several connections send, and the owner of their memory.
  struct Shared {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };
  // One broadcast, framed once for plain output and for each set of compression parameters in use.
  struct Broadcast;
  struct LoneDeflater {
    websocket::ZlibParameters parameters;
    std::unique_ptr<websocket::Deflater> deflater;
  };

  void Begin(Connection* connection, const WebSocketReply& wanted);
  void OnFrame(Connection* connection, const ReplyRecord& reply);
  void OnFrameBlock(Connection* connection, const ReplyRecord& reply);
  void OnBroadcastBlock(Attachment* from, const ReplyRecord& reply);
  size_t Read(Connection* connection, char* data, size_t size);
  std::span<char> OwnRoom(Connection* connection);
  static void OnUnusedTimer(uv_timer_t* timer);
  // Starts the timer that frees unused zlib states and blocks.
  void WatchUnused();

  websocket::MessageReader* ReaderOf(WebSocketState* socket);
  void KeepReader(WebSocketState* socket);
  bool BeginFrame(Connection* connection, const Frame& frame, bool* is_compressed);
  void SendHeader(Connection* connection, const Frame& frame, bool is_compressed, size_t bytes);
  bool SendCompressed(Connection* connection, const Frame& frame);
  void BroadcastTo(Connection* connection, Broadcast* broadcast);
  const Shared* CompressedFor(const WebSocketState& socket, Broadcast* broadcast);
  websocket::Deflater* DeflaterOf(WebSocketState* socket);
  websocket::Deflater* LoneDeflaterOf(const websocket::ZlibParameters& parameters);
  void Pong(Connection* connection, std::string_view payload);

  BlockPool* pool_;
  Transport* transport_;
  OutputPass* output_;
  Input* input_;
  // An unused reader, for the next WebSocket that needs one.
  std::unique_ptr<websocket::MessageReader> spare_reader_;
  uv_timer_t unused_timer_;
  websocket::ZlibPool zlib_;
  // Deflaters without context takeover, one for each set of parameters.
  std::vector<LoneDeflater> lone_deflaters_;
};

}  // namespace httpsys::engine
