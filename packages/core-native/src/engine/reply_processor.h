#pragma once
// Turns the reply records of a lane into output.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_session.h"
#include "engine/http2/http2_session.h"
#include "engine/peers/port_router.h"
#include "records/record_writer.h"
#include "records/reply_reader.h"

namespace httpsys::engine {

// Thread: the lane.
class ReplyProcessor {
 public:
  ReplyProcessor(ReplyReader* replies, LentMemory* lent, RecordWriter* records,
                 Transport* transport, Http1Session* session, Http2Session* http2,
                 PortRouter* router, WebSocketSession* websockets)
      : replies_(replies),
        lent_(lent),
        records_(records),
        transport_(transport),
        session_(session),
        http2_(http2),
        router_(router),
        websockets_(websockets) {}

  // One pass: handles records (limits::kRepliesPerPass), sends what they say, gives their memory
  // back. False when there were none.
  bool Run();

 private:
  void Handle(const uint8_t* record);
  bool HandleBroadcast(records::ReplyType type, const uint8_t* record);
  void HandleOpen(Connection* connection, const uint8_t* record);
  // False: as on any connection.
  bool HandleStream(Connection* stream, const uint8_t* record);
  void HandleHttp2(Connection* connection, const uint8_t* record);
  void EndStream(Connection* stream, uint32_t flags, uint32_t idle_timeout_ms);
  void OnStreamBlock(Connection* stream, const uint8_t* record);
  void OnResponse(Connection* connection, const uint8_t* record);
  void OnData(Connection* connection, const uint8_t* record);
  void OnTrailers(Connection* connection, const uint8_t* record);
  void OnBlock(Connection* connection, const uint8_t* record);
  void OnDestroy(Connection* connection, uint32_t flags);
  void OnSocketOption(Connection* connection, const uint8_t* record);
  void OnIdleTimeout(Connection* connection, uint32_t timeout_ms);
  void BeginChunk(Connection* connection, size_t bytes);
  void SendBody(Connection* connection, std::string_view bytes, uint32_t flags);
  void End(Connection* connection, uint32_t flags, uint32_t idle_timeout_ms);

  ReplyReader* replies_;
  LentMemory* lent_;
  RecordWriter* records_;
  Transport* transport_;
  Http1Session* session_;
  Http2Session* http2_;
  PortRouter* router_;
  WebSocketSession* websockets_;
  std::vector<Connection*> touched_;
};

}  // namespace httpsys::engine
