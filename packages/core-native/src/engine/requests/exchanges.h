#pragma once
// The messages of a connection in the framing of HTTP/1.1: where a request's body begins and ends,
// and what its answer changes.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/connection/connection.h"
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

  // Prepares for the body behind this head. Returns its phase, which the caller enters: kBodyLength
  // or kBodyChunked, or kHead where there is no body.
  InputPhase BeginBody(Connection* connection, const http1::RequestHead& head);
  // A request has been read to its end.
  void MessageDone(Connection* connection);
  // A request was answered.
  void OnAnswered(Connection* connection);
  // Ends an idle connection of a server that was closed, or gives it to another member of its port.
  void EndIdle(Connection* connection);
  // As on Node, the idle time also runs while the body of an answered request stands still.
  void TimeAnsweredBody(Connection* connection);
  // Everything that was kept back has been read: line ends only, where the connection is idle.
  void OnKeptRead(Connection* connection);
  // Goes on with what waited for answers or output, once that has been given to the socket.
  // `resume` is called with the connection and the reason to resume.
  template <typename Function>
  void ResumeWanted(const std::vector<Connection*>& touched, Function resume) {
    for (Connection* connection : touched) {
      if (!connection->wants_input_resumed || !connection->is_open()) continue;
      connection->wants_input_resumed = false;
      router_->OnOutputDone(connection);
      if (!OutputPass::IsBehind(*connection)) SocketWatch::Resume(connection, kPauseOutput);
      resume(connection, kPausePipeline);
      if (connection->is_open() && connection->unanswered == 0 && !connection->is_waiting) {
        resume(connection, kPauseOrder);
      }
      if (connection->is_open() && connection->server->is_unlistened) EndIdle(connection);
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
