#pragma once
// Reads requests that another member of the port answers.

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

// The member has the last word on the bytes of such a request: here only its end is looked for.
// Thread: the lane.
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

  // The head of a request has left.
  void Begin(Connection* connection, const http1::RequestHead& head);
  // What becomes of a request that asks for an upgrade.
  void OnUpgrade(Connection* connection, bool is_accepted);
  // True if the input of the connection can be read again from the requests that a member had. A
  // peer sends what it likes: it may give requests back that this connection is past.
  static bool CanTakeBack(const Connection* connection);
  // Requests that the member was to answer are read again. Only if CanTakeBack().
  void TakeBack(Connection* connection, std::string_view requests, uint32_t count);
  // They have no answer: the member has died, and nobody knows what it has done. What is known of
  // them begins with the first one.
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
  Protocol* text_;  // Of connections whose requests are not relayed.
};

}  // namespace httpsys::engine
