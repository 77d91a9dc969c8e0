#pragma once
// HTTP/1.1 on the connections of a lane: from bytes to request records.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/block_store.h"
#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/http2/http2_session.h"
#include "engine/requests/refused_requests.h"
#include "engine/requests/request_router.h"
#include "engine/requests/unread_requests.h"
#include "engine/websocket/websocket_session.h"
#include "http1/method_table.h"
#include "records/record_writer.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Owns the read buffer and the parsers of its lane and lends a parser to a connection only while
// its request head is incomplete. Thread: the lane.
class Http1Session final {
 public:
  Http1Session(const http1::MethodTable* methods, RequestQueue* queue, RecordWriter* records,
               Transport* transport, RequestRouter* router, WebSocketSession* websockets,
               RefusedRequests* refused);

  // Reads what is there, within limits, and delivers it.
  void OnReadable(Connection* connection);
  void OnDisconnect(Connection* connection);
  // Ends a connection whose client takes less than minSendRate.
  void OnTooSlow(Connection* connection);
  // Takes bytes that another process has read.
  void OnHandedOver(Connection* connection, std::string_view bytes) { Receive(connection, bytes); }
  // Goes on with bytes that were kept back; nothing when a reason to pause is left.
  void ResumeInput(Connection* connection, PauseReason reason);

  // The same for those that want it after their output was sent.
  void ResumeWanted(const std::vector<Connection*>& touched);

  // -- What JavaScript decides.

  // One request was answered.
  void OnAnswered(Connection* connection);
  void OnWindow(Connection* connection, uint32_t bytes);
  // Undecided: the bytes are kept until it is said what they are.
  void OnUpgradeAccept(Connection* connection, bool is_undecided);
  // Decides; `head` was read behind the request.
  void OnWebSocket(Connection* connection, std::string_view head);
  void OnUpgradeDecline(Connection* connection);
  // Requests that another member was to answer are read again.
  void TakeBack(Connection* connection, std::string_view requests, uint32_t count);
  // They have no answer: that member has died. What is known of them begins with the first one.
  void AnswerLost(Connection* connection, std::string_view requests);
  // What becomes of one of them that asks for an upgrade.
  void OnRelayedUpgrade(Connection* connection, bool is_accepted);

  // Refuses a message that began too long ago (nanoseconds; 0 = no limit).
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns,
                     uint64_t request_ns);
  // Between two requests, after the first one.
  static bool IsIdle(const Connection* connection);
  // Ends an idle connection of a server that was closed, or gives it to another member of its port.
  void EndIdle(Connection* connection);
  // No byte of a first request has come.
  static bool IsUnserved(const Connection* connection);

  // -- For streams of HTTP/2 connections.

  void set_http2(Http2Session* http2) { http2_ = http2; }
  // A request of this connection has just been given to JavaScript.
  void AddUnread(const Connection* connection, const http1::RequestHead& head);
  // JavaScript has begun the request that ends there.
  void SettleUnread(uint64_t end) { unread_.Settle(end); }
  bool IsQueueFull(LaneServer* server);
  // What is answered where JavaScript is not asked; counted and logged. `head` is nullptr when it
  // is not known any more. False: with a reset.
  bool ComposeUnrouted(const Connection* connection, const http1::RequestHead* head,
                       RouteStatus status, bool keep_alive, std::string* reply);
  void Log(const Connection* connection, const http1::RequestHead* head, int status,
           std::string_view reason);
  // Its request is refused, or it is reset when that was answered.
  void RefuseStream(Connection* stream, records::ErrorKind kind);

  // The clock of the current loop iteration.
  void BeginPass() {
    now_ns_ = 0;
    unread_.Settle(queue_->begun());
  }
  // Refuses requests that JavaScript has not begun in time.
  void RefuseOverdue(uint64_t now_ms) {
    if (unread_.HasOverdue(now_ms)) RefuseTaken(now_ms);
  }
  // Refuses what JavaScript will never begin: its thread ends.
  void RefuseAbandoned();
  // True when a connection was paused for want of memory since the last call.
  bool TakeStalled() { return std::exchange(is_stalled_, false); }
  // True when the error log has left out a line since the last call.
  bool TakeDroppedLines() { return std::exchange(has_dropped_lines_, false); }
  size_t kept_parsers() const { return parsers_.size(); }

 private:
  enum class Advance : uint8_t { kGoOn, kWait };

  void PauseForMemory(Connection* connection);
  bool ReadOnce(Connection* connection);
  bool ReadIntoBlock(Connection* connection);
  bool ReadWebSocket(Connection* connection);
  bool KeepUndecided(Connection* connection);
  void Decide(Connection* connection, InputPhase phase);
  uint8_t* BlockMemory();
  void DeliverBlock(Connection* connection, size_t bytes);
  void OnReadFailed(Connection* connection, int error);
  void OnEof(Connection* connection);
  void TellEnd(Connection* connection, InputPhase phase);
  void Receive(Connection* connection, std::string_view bytes);
  void ConsumePartial(Connection* connection);
  size_t Consume(Connection* connection, std::string_view input);

  Advance ConsumeHead(Connection* connection, std::string_view input, size_t* used);
  Advance ConsumeLength(Connection* connection, std::string_view input, size_t* used);
  Advance ConsumeChunked(Connection* connection, std::string_view input, size_t* used);
  Advance ConsumeOpaque(Connection* connection, std::string_view input, size_t* used);
  Advance ConsumeWebSocket(Connection* connection, std::string_view input, size_t* used);
  Advance ConsumeAfterClose(Connection* connection, std::string_view input, size_t* used);
  Advance RelayLength(Connection* connection, std::string_view input, size_t* used);
  Advance RelayChunked(Connection* connection, std::string_view input, size_t* used);
  Advance RelayOpaque(Connection* connection, std::string_view input, size_t* used);
  Advance SkipLength(Connection* connection, std::string_view input, size_t* used);
  Advance SkipChunked(Connection* connection, std::string_view input, size_t* used);

  // Whether it is HTTP/2: then what follows is not HTTP/1.1, or not yet to be looked at.
  bool UpgradeToHttp2(Connection* connection, const http1::RequestHead& head,
                      std::string_view input, size_t* used);
  bool BeginHttp2(Connection* connection, std::string_view input, Advance* advance);
  Advance KeepHead(Connection* connection, std::string_view input, size_t* used);
  Advance DeliverHead(Connection* connection, const http1::RequestHead& head,
                      std::string_view input, size_t* used);
  // False: somebody else's, or not yet anybody's; `advance` says how to go on.
  bool FindServer(Connection* connection, const http1::RequestHead& head, std::string_view input,
                  Route* route, size_t* used, Advance* advance);
  void WaitForTurn(Connection* connection, size_t* used);
  Advance BeginRelay(Connection* connection, const http1::RequestHead& head);
  bool CanRelay(Connection* connection);
  Advance AnswerUnrouted(Connection* connection, const http1::RequestHead& head, RouteStatus status,
                         size_t* used);
  std::string_view TakeFirstPiece(Connection* connection, std::string_view input, size_t* used);
  bool DecodeInline(std::string_view input, std::string_view* body, size_t* used);
  void BeginBody(Connection* connection, const http1::RequestHead& head);
  void MessageDone(Connection* connection);
  void LookWhetherIdle(Connection* connection);
  // As on Node, the idle time also runs while the body of an answered request stands still.
  void TimeAnsweredBody(Connection* connection);

  void RefuseTaken(uint64_t now_ms);
  void RefuseUnread(const UnreadRequests::Item& item, RouteStatus status);
  void Refuse(Connection* connection, records::ErrorKind kind, std::string_view raw);
  void RefuseMore(Connection* connection, std::string_view input);
  void RefuseChunked(Connection* connection, std::string_view input);
  void KeepRaw(Connection* connection, std::string_view bytes);

  std::unique_ptr<http1::RequestParser> TakeParser();
  std::unique_ptr<http1::ChunkedDecoder> TakeDecoder();
  void ReturnDecoder(Connection* connection);
  uint64_t Now();

  const http1::MethodTable* methods_;
  const int head_method_;
  RequestQueue* queue_;
  RecordWriter* records_;
  Transport* transport_;
  RequestRouter* router_;
  WebSocketSession* websockets_;
  RefusedRequests* refused_;
  Http2Session* http2_ = nullptr;
  uint64_t now_ns_ = 0;
  bool is_stalled_ = false;
  bool has_dropped_lines_ = false;
  UnreadRequests unread_;
  std::vector<char> buffer_;
  std::unique_ptr<http1::RequestParser> parser_;  // For heads that arrive whole.
  std::vector<std::unique_ptr<http1::RequestParser>> parsers_;
  std::vector<std::unique_ptr<http1::ChunkedDecoder>> decoders_;
  std::string native_reply_;
  Block spare_block_;
  ReceiveBlocks::Loan loan_;
};

}  // namespace httpsys::engine
