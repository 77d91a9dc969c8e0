#pragma once
// Tracks the messages of HTTP/1.1 connections: where a request's body begins and ends, and how an
// answer changes the connection's state.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/requests/request_router.h"
#include "http1/chunked_decoder.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Owns the decoders of chunked bodies of its lane and lends one to a connection while such a body
// is read. Thread: the lane.
class Exchanges {
 public:
  Exchanges(Transport* transport, RequestRouter* router)
      : transport_(transport), output_(transport->output()), router_(router) {}
  Exchanges(const Exchanges&) = delete;
  Exchanges& operator=(const Exchanges&) = delete;

  // Prepares to read the body behind this head. Returns the phase that the caller enters:
  // kBodyLength or kBodyChunked, or kHead if there is no body.
  InputPhase BeginBody(Connection* connection, const http1::RequestHead& head);
  // Must be called when a request has been read to its end.
  void MessageDone(Connection* connection);
  // Puts `count` unanswered requests, whose bytes are `requests`, back into the input, where they
  // are parsed again. The caller must resume the input. The phase must allow kHead.
  static void ReadAgain(Connection* connection, std::string_view requests, uint32_t count);
  // Must be called when the answer to a request is complete.
  void OnAnswered(Connection* connection);
  // If the connection is idle, gives it to another member of the port or ends it. Called when its
  // server was closed.
  void EndIdle(Connection* connection);
  // Ends an idle connection, unless its next request has already arrived.
  void CloseIdle(Connection* connection);
  // Starts the idle timer if all requests are answered but the last one's body has not ended, as
  // Node does.
  void TimeAnsweredBody(Connection* connection);
  // Must be called when all bytes that were kept back have been handled. If they were only line
  // ends, so that the connection is idle, starts its idle timer.
  void OnKeptRead(Connection* connection);
  // Resumes the input of the `touched` connections that waited for answers or output. `resume` is
  // called with a connection and the reason to pause that no longer applies.
  template <typename Function>
  void ResumeWanted(const std::vector<Connection*>& touched, Function resume) {
    for (Connection* connection : touched) {
      if (!connection->is_open() || !connection->input.TakeResumeDue()) continue;
      router_->OnOutputDone(connection);
      if (!OutputPass::IsBehind(*connection)) SocketWatch::Resume(connection, kPauseOutput);
      resume(connection, kPausePipeline);
      if (connection->is_open() && connection->message.unanswered() == 0 &&
          !connection->sharing.is_waiting()) {
        resume(connection, kPauseOrder);
      }
      if (connection->is_open() && connection->server()->is_unlistened) EndIdle(connection);
    }
  }

  std::unique_ptr<http1::ChunkedDecoder> TakeDecoder();
  void ReturnDecoder(std::unique_ptr<http1::ChunkedDecoder> decoder);

 private:
  void LookWhetherIdle(Connection* connection);

  Transport* transport_;
  OutputPass* output_;
  RequestRouter* router_;
  std::vector<std::unique_ptr<http1::ChunkedDecoder>> decoders_;
};

}  // namespace httpsys::engine
