#pragma once
// The HTTP/1.1 protocol on the connections of a lane: turns bytes into request records.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/input.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_answers.h"
#include "engine/http1/http1_bodies.h"
#include "engine/http1/http1_replies.h"
#include "engine/pipeline/request_pipeline.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Owns the parsers of its lane and lends one to a connection only while its request head is
// incomplete. Thread: the lane.
class Http1Session final : public Protocol {
 public:
  Http1Session(const http1::MethodTable* methods, Transport* transport, Input* input,
               RequestRouter* router, Http2Entry* http2, NativeAnswers* answers,
               Exchanges* exchanges, RequestPipeline* pipeline, PassClock* clock);

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

  // Refuses the message that is being read if it began too long ago: more than `headers_ns` for its
  // head or `request_ns` for the whole (nanoseconds; 0 = no limit).
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns,
                     uint64_t request_ns);
  // Resets a connection whose client reads more slowly than minSendRate. Bytes that the kernel
  // still has for the client are lost.
  void OnTooSlow(Connection* connection);
  AnswerWriter* writer() { return &writer_; }

 private:
  Advance ReadHead(Connection* connection, std::string_view input, size_t* used);
  Advance ReadAfterClose(Connection* connection, std::string_view input, size_t* used);
  // Handles the client's end on a connection that is not upgraded, and whose phase was `phase`.
  void TellEnd(Connection* connection, InputPhase phase);

  // Begins HTTP/2 if it was negotiated or the input begins with its preface. Returns false for
  // HTTP/1.1; returns true if HTTP/2 has begun or too few bytes have arrived to decide.
  bool BeginHttp2(Connection* connection, std::string_view input, Advance* advance);
  Advance KeepHead(Connection* connection, std::string_view input, size_t* used);
  void KeepParsed(Connection* connection, std::unique_ptr<http1::RequestParser> parser,
                  PauseReason reason);
  Advance HandleHead(ArrivedRequest* request, size_t* used, PauseReason* reason);
  Advance Deliver(ArrivedRequest* request, size_t* used);
  Advance GoOn(const ArrivedRequest& request);
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
  NativeAnswers* answers_;
  Exchanges* exchanges_;
  RequestPipeline* pipeline_;
  PassClock* clock_;
  Http1Answers writer_;
  Http1Bodies bodies_;
  Http1Replies replies_;
  std::unique_ptr<http1::RequestParser> parser_;  // Parses heads that arrive in one piece.
  // The last number given to a head. Two heads have the same number only if they have the same
  // bytes.
  uint64_t last_number_ = 0;
  // Spare parsers for heads that arrive in pieces.
  std::vector<std::unique_ptr<http1::RequestParser>> parsers_;
};

}  // namespace httpsys::engine
