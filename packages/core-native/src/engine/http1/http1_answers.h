#pragma once
// Refusals and native answers on connections of HTTP/1.1.

#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"

namespace httpsys::engine {

// Thread: the lane.
class Http1Answers final : public AnswerWriter {
 public:
  Http1Answers(Transport* transport, const Input* input, RequestRouter* router,
               NativeAnswers* answers)
      : transport_(transport), input_(input), router_(router), answers_(answers) {}

  // Refuses the message that is being read. `input` contains the fault and ends with the last bytes
  // read; `prefix` is text that brings a parser to the position where `input` begins. If JavaScript
  // listens for errors or must answer an earlier request, it gets kError. Otherwise the lane
  // answers, and the connection closes.
  void Refuse(Connection* connection, records::ErrorKind kind, std::string_view input,
              std::string prefix = {});
  // Handles bytes behind a refused message for which JavaScript got kError.
  void RefuseMore(Connection* connection, std::string_view input);

  bool IsTurn(const Connection& connection) const override {
    return connection.message.unanswered() == 0;
  }
  void WriteAnswer(Connection* connection, const NativeAnswer& answer) override;
  void ResetRequest(Connection* connection, bool may_retry) override;

 private:
  void Tell(Connection* connection, records::ErrorKind kind, std::string_view input,
            std::string prefix);

  Transport* transport_;
  const Input* input_;
  RequestRouter* router_;
  NativeAnswers* answers_;
};

}  // namespace httpsys::engine
