#pragma once
// Reads requests that another member of the port answers, at the member that has the client.

#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Finds the end of each relayed request in the input; the answering member parses the bytes and
// finds errors in them. Thread: the lane.
class RelayInput final : public Protocol {
 public:
  RelayInput(const http1::MethodTable* methods, Transport* transport, Input* input,
             RequestRouter* router, Exchanges* exchanges, NativeAnswers* answers,
             AnswerWriter* writer, Protocol* text)
      : methods_(methods),
        transport_(transport),
        input_(input),
        router_(router),
        exchanges_(exchanges),
        answers_(answers),
        writer_(writer),
        text_(text) {}

  // -- Protocol.

  Advance OnReadable(Connection* connection, std::string_view input, size_t* used) override;
  void OnEof(Connection* connection) override;
  void OnTimeout(Connection* connection) override { transport_->Close(connection, 0); }
  bool OnReply(Connection*, const ReplyRecord&) override { return false; }

  // Must be called when the head of a request has been sent to the member: reads the body from here
  // on.
  void Begin(Connection* connection, const http1::RequestHead& head);
  // Must be called when the member has accepted or declined an upgrade.
  void OnUpgrade(Connection* connection, bool is_accepted);
  // True if the input can be set back to unanswered requests. Peers are not trusted: one may return
  // requests when the connection is past them.
  static bool CanTakeBack(const Connection* connection);
  // Reads `count` requests, whose bytes are `requests`, again. CanTakeBack() must be true.
  void TakeBack(Connection* connection, std::string_view requests, uint32_t count);
  // Answers requests whose member has died, perhaps after it had begun them. `requests` are the
  // bytes that are known, from the first request on.
  void AnswerLost(Connection* connection, std::string_view requests);

 private:
  Advance ReadLength(Connection* connection, std::string_view input, size_t* used);
  Advance ReadChunked(Connection* connection, std::string_view input, size_t* used);

  const http1::MethodTable* methods_;
  Transport* transport_;
  Input* input_;
  RequestRouter* router_;
  Exchanges* exchanges_;
  NativeAnswers* answers_;
  AnswerWriter* writer_;
  Protocol* text_;  // The protocol of connections whose requests are not relayed.
};

}  // namespace httpsys::engine
