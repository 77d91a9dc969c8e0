#pragma once
// The HTTP/1.1 protocol on the connections of a lane: turns bytes into request records.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/cache/cached_answers.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/pass_clock.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_bodies.h"
#include "engine/http1/http1_refusals.h"
#include "engine/http1/http1_replies.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_gate.h"
#include "engine/requests/request_router.h"
#include "engine/requests/static_requests.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Owns the parsers of its lane and lends one to a connection only while its request head is
// incomplete. Thread: the lane.
class Http1Session final : public Protocol {
 public:
  Http1Session(const http1::MethodTable* methods, Transport* transport, Input* input,
               RequestRouter* router, Http2Entry* http2, RequestGate* gate, NativeAnswers* answers,
               Exchanges* exchanges, StaticRequests* statics, CachedAnswers* cached,
               PassClock* clock);

  // -- Protocol.

  std::span<char> Room(Connection* connection, std::span<char> shared) override;
  size_t MoreRoom(Connection* connection, std::span<iovec> rooms) override {
    return Http1Bodies::MoreRoom(connection, rooms);
  }
  void OnReceived(Connection* connection, size_t bytes) override {
    bodies_.OnReceived(connection, bytes);
  }
  Advance OnReadable(Connection* connection, std::string_view input, size_t* used) override;
  void OnKeptRead(Connection* connection) override { exchanges_->OnKeptRead(connection); }
  void OnEof(Connection* connection) override;
  void OnTimeout(Connection* connection) override { transport_->Close(connection, 0); }
  bool OnReply(Connection* connection, const ReplyRecord& reply) override;

  // Refuses a message that began too long ago (nanoseconds; 0 = no limit).
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns,
                     uint64_t request_ns);
  // Resets a connection whose client reads more slowly than minSendRate. Bytes that the kernel
  // still has for the client are lost.
  void OnTooSlow(Connection* connection);
  AnswerWriter* writer() { return &refusals_; }

 private:
  Advance ReadHead(Connection* connection, std::string_view input, size_t* used);
  Advance ReadAfterClose(Connection* connection, std::string_view input, size_t* used);
  // Handles the client's end on a connection that is not upgraded, and whose phase was `phase`.
  void TellEnd(Connection* connection, InputPhase phase);

  // Begins HTTP/2 if it was negotiated or the input begins with its preface. Returns false for
  // HTTP/1.1; returns true if HTTP/2 has begun or too few bytes have arrived to decide.
  bool BeginHttp2(Connection* connection, std::string_view input, Advance* advance);
  Advance KeepHead(Connection* connection, std::string_view input, size_t* used);
  Advance DeliverHead(Connection* connection, const http1::RequestHead& head,
                      std::string_view input, size_t* used);
  // Returns true if a server of this lane gets the request. Returns false if it is answered,
  // another member has it, or its owner is not known yet; the caller must then return *advance.
  bool FindServer(Connection* connection, const http1::RequestHead& head, std::string_view input,
                  Route* route, size_t* used, Advance* advance);
  static void KeepForLater(Connection* connection, PauseReason reason, size_t* used);
  // Answers the request without JavaScript if it is for a static file or the output cache has an
  // answer. Returns false if JavaScript must answer it.
  bool AnswerAlone(Connection* connection, const http1::RequestHead& head, uint32_t prefix_id,
                   size_t* used, Advance* advance);
  // True if the connection can stay open after an answer of the lane itself.
  bool MayKeepAlive(const Connection* connection, const http1::RequestHead& head) const;
  // Continues after an answer of the lane itself, by reading the request's body or the next
  // request.
  Advance GoOn(Connection* connection, const http1::RequestHead& head, bool keep_alive);
  Advance AnswerUnrouted(Connection* connection, const http1::RequestHead& head, RouteStatus status,
                         size_t* used);
  void OnUpgradeAccept(Connection* connection, bool is_undecided);
  void OnUpgradeDecline(Connection* connection);
  void OnRefuseBody(Connection* connection, const ReplyRecord& reply);
  std::unique_ptr<http1::RequestParser> TakeParser();

  const http1::MethodTable* methods_;
  Transport* transport_;
  OutputPass* output_;
  Input* input_;
  RequestRouter* router_;
  Http2Entry* http2_;
  RequestGate* gate_;
  NativeAnswers* answers_;
  Exchanges* exchanges_;
  StaticRequests* statics_;
  CachedAnswers* cached_;
  PassClock* clock_;
  Http1Refusals refusals_;
  Http1Bodies bodies_;
  Http1Replies replies_;
  std::unique_ptr<http1::RequestParser> parser_;  // Parses heads that arrive in one piece.
  // The last number given to a head. Two heads have the same number only if they have the same
  // bytes.
  uint64_t last_number_ = 0;
  uint64_t head_number_ = 0;  // The number of the head that is being handled.
  // Spare parsers for heads that arrive in pieces.
  std::vector<std::unique_ptr<http1::RequestParser>> parsers_;
};

}  // namespace httpsys::engine
