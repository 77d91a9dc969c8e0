#pragma once
// Gives each reply record of a lane to the protocol of its connection.

#include <vector>

#include "engine/cache/captures.h"
#include "engine/connection/attachment.h"
#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/websocket/websocket_session.h"
#include "records/replies.h"

namespace httpsys::engine {

// Handles the replies of all attachments of one lane. Thread: the lane.
class ReplyProcessor {
 public:
  // `text` handles replies that are the same on every connection with text output; `frames` handles
  // replies on connections and streams of HTTP/2.
  ReplyProcessor(const Attachments* attachments, Transport* transport, const Protocols* protocols,
                 Protocol* text, Protocol* frames, WebSocketSession* websockets, Captures* captures)
      : attachments_(attachments),
        transport_(transport),
        protocols_(protocols),
        text_(text),
        frames_(frames),
        websockets_(websockets),
        captures_(captures) {}

  // Runs one pass: handles up to limits::kRepliesPerPass records of each attachment, or
  // kReplyBytesPerPass, sends the output and gives the records' memory back. Fills `touched` with
  // the connections that have sent something. Returns false if there was no record.
  bool Run(std::vector<Connection*>* touched);

 private:
  void Handle(Attachment* from, const ReplyRecord& reply);
  void HandleOpen(Connection* connection, const ReplyRecord& reply);
  // Shows a reply to the cache, which may replace it.
  void HandleCached(Attachment* from, Connection* connection, const ReplyRecord& reply);
  // Discards a record whose connection is closed.
  static void DropLate(Attachment* from, const ReplyRecord& reply);

  const Attachments* attachments_;
  Transport* transport_;
  const Protocols* protocols_;
  Protocol* text_;
  Protocol* frames_;
  WebSocketSession* websockets_;
  Captures* captures_;
};

}  // namespace httpsys::engine
