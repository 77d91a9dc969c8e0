#pragma once
// Gives each reply record of a lane to the protocol of its connection.

#include <vector>

#include "base/block_store.h"
#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/websocket/websocket_session.h"
#include "records/record_writer.h"
#include "records/replies.h"
#include "records/reply_reader.h"

namespace httpsys::engine {

// Thread: the lane.
class ReplyProcessor {
 public:
  // `text` handles the replies that are the same on every connection whose output is text; `frames`
  // handles those on connections and streams of HTTP/2.
  ReplyProcessor(ReplyReader* replies, LentMemory* lent, RecordWriter* records,
                 Transport* transport, const Protocols* protocols, Protocol* text, Protocol* frames,
                 WebSocketSession* websockets)
      : replies_(replies),
        lent_(lent),
        records_(records),
        transport_(transport),
        protocols_(protocols),
        text_(text),
        frames_(frames),
        websockets_(websockets) {}

  // Runs one pass: handles up to limits::kRepliesPerPass records, sends the output and gives the
  // records' memory back. Fills `touched` with the connections that have sent something. Returns
  // false if there was no record.
  bool Run(std::vector<Connection*>* touched);

 private:
  void Handle(const ReplyRecord& reply);
  void HandleOpen(Connection* connection, const ReplyRecord& reply);

  ReplyReader* replies_;
  LentMemory* lent_;
  RecordWriter* records_;
  Transport* transport_;
  const Protocols* protocols_;
  Protocol* text_;
  Protocol* frames_;
  WebSocketSession* websockets_;
};

}  // namespace httpsys::engine
