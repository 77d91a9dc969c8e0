#pragma once
// Tracks the messages of a connection in the framing of HTTP/1.1: where the body of a request
// begins and ends, and what an answer changes.

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
  // Reads `count` requests, whose bytes are `requests`, again: nobody answers them as they were
  // read. Nothing is read before the input is resumed. The phase must allow kHead.
  static void ReadAgain(Connection* connection, std::string_view requests, uint32_t count);
  // Must be called when the answer to a request is complete.
  void OnAnswered(Connection* connection);
  // Ends a connection that is idle and whose server was closed, or gives it to another member of
  // the port.
  void EndIdle(Connection* connection);
  // Ends an idle connection, unless its next request has come already: that is answered.
  void CloseIdle(Connection* connection);
  // Starts the idle timer while the rest of the body of an answered request is awaited, as Node
  // does.
  void TimeAnsweredBody(Connection* connection);
  // Must be called when all bytes that were kept back have been handled. If the connection is idle
  // (they were line ends), its idle timer starts.
  void OnKeptRead(Connection* connection);
  // Resumes the input of the `touched` connections that waited for answers or output. `resume` is
  // called with a connection and the reason that is over.
  template <typename Function>
  void ResumeWanted(const std::vector<Connection*>& touched, Function resume) {
    for (Connection* connection : touched) {
      if (!connection->is_open() || !Input::TakeResumeDue(connection)) continue;
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
