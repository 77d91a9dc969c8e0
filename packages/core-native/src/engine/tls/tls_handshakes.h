#pragma once
// TLS handshakes on the connections of a lane. A connection is announced to JavaScript when its
// handshake is complete, or when JavaScript has to choose the certificate or the protocol.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"

namespace httpsys::engine {

// Thread: the lane.
class TlsHandshakes final : private AnswerWriter {
 public:
  TlsHandshakes(Transport* transport, RequestRouter* router, NativeAnswers* answers)
      : transport_(transport), output_(transport->output()), router_(router), answers_(answers) {}

  // Continues a handshake (phase kHandshake). Returns true if it is done and bytes may be readable.
  bool OnReadable(Connection* connection);
  // Fails a handshake that has taken too long.
  void OnTimeout(Connection* connection);
  void OnDetached(Connection* connection);
  // Sends the session tickets of handshakes that have ended in this loop iteration, unless a
  // response has carried them. A client with Nagle's algorithm holds back its first request until
  // the end of its handshake is acknowledged; without these bytes the kernel would delay that by 40
  // ms. Returns true if there were tickets to send. May close connections.
  bool SendTickets();
  // Continues the handshake that waited for JavaScript's answer to the kHello or kNewSession record
  // `id`. Returns what OnReadable() would return, and sets *connection. Ignores ids that are
  // unknown or belong to another attachment.
  bool OnAnswer(const Attachment* from, uint32_t id, tls::HelloAnswer answer,
                Connection** connection);

 private:
  uint32_t Suspend(Connection* connection);
  bool Route(Connection* connection);
  bool Continue(Connection* connection);
  bool Establish(Connection* connection);
  void Fail(Connection* connection);

  // -- AnswerWriter, for clients that speak plain HTTP.

  bool IsTurn(const Connection& connection) const override {
    (void)connection;
    return true;
  }
  void WriteAnswer(Connection* connection, const NativeAnswer& answer) override;
  void ResetRequest(Connection* connection, bool may_retry) override;

  Transport* transport_;
  OutputPass* output_;
  RequestRouter* router_;
  NativeAnswers* answers_;
  uint32_t next_id_ = 1;
  // Connections that wait for an answer of JavaScript, by the id of the record.
  std::unordered_map<uint32_t, Connection*> asking_;
  // Open connections with tickets for SendTickets().
  std::vector<Connection*> holding_;
};

}  // namespace httpsys::engine
