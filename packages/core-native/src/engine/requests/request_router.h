#pragma once
// Whose request is it? Of ports that several servers share.

#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "http1/request_parser.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Thread: the lane.
class RequestRouter {
 public:
  enum class Outcome : uint8_t {
    kHere,       // The connection has its server; the route is that of its prefix.
    kUnrouted,   // Nobody's: answered by status.
    kLater,      // Answers before it, or their bytes, are still to leave.
    kWaiting,    // For its owner: asked again by itself.
    kElsewhere,  // The connection has left with its bytes.
    kRelayed,    // Its head has left, its connection stays: the phase says how its body goes on.
  };

  // Requests of this port have to be looked at before their connection has a server.
  virtual bool IsShared(uint16_t port) const = 0;
  // Before TLS begins: to the server, or the member, that has the certificate of this name. False:
  // the connection has left.
  virtual bool RouteHello(Connection* connection, std::string_view servername) = 0;
  // Of a server that has closed, and that JavaScript has not heard of: it goes to another server of
  // the port, or ends.
  virtual void Leave(Connection* connection) = 0;
  // Gives an idle connection of a server that ends to another member. False: nobody wants it.
  virtual bool MoveAway(Connection* connection) = 0;
  // False on a port whose only server has the connection already.
  virtual bool MustRoute(const Connection* connection) const = 0;
  // `input` begins with the request.
  virtual Outcome FindServer(Connection* connection, const http1::RequestHead& head,
                             std::string_view input, size_t head_bytes, Route* route) = 0;
  // The same for a stream of HTTP/2: kHere, kUnrouted, kWaiting, or kRelayed with the member that
  // RelayStream() is to be called with.
  virtual Outcome FindStreamServer(Connection* stream, const http1::RequestHead& head, Route* route,
                                   uint64_t* member) = 0;

  // -- A request that another member answers.

  // False: the member does not read; asked again by ResumeInput(kPauseRelay).
  virtual bool CanRelay(const Connection* connection) const = 0;
  // The head of a stream's request as text. False: not now.
  virtual bool RelayStream(Connection* stream, uint64_t member, std::string_view head) = 0;
  // The bytes that the member has not taken of it.
  virtual size_t UnsentBytes(const Connection* connection) const = 0;
  // What follows the head, as it came.
  virtual void RelayMore(Connection* connection, std::string_view bytes) = 0;
  // The client has ended its direction. False: nothing is being relayed.
  virtual bool RelayEnd(Connection* connection) = 0;

  // -- The same, where it is answered.

  // An answer that goes to another member's client is whole.
  virtual void OnRelayedAnswer(Connection* connection) = 0;
  virtual void OnRelayedUpgrade(Connection* connection, bool is_accepted) = 0;

  virtual void OnOutputDone(Connection* connection) = 0;
  virtual void CountRequest(Connection* connection, uint32_t prefix_id) = 0;

 protected:
  ~RequestRouter() = default;
};

// What a relay says to the session of HTTP/2 whose stream's request another member answers. Thread:
// the lane.
class RelayedStreams {
 public:
  // Bytes of the answer; they are copied.
  virtual void OnRelayedBytes(Connection* stream, std::string_view bytes) = 0;
  // The answer is complete.
  virtual void OnRelayedAnswer(Connection* stream, bool closes) = 0;
  // The member has ended its direction of a tunnel, whose bytes are whole.
  virtual void OnRelayedEnd(Connection* stream) = 0;
  virtual void OnRelayedUpgrade(Connection* stream, bool is_accepted) = 0;
  // The member has closed its end, where nothing is a tunnel's.
  virtual void OnRelayEnded(Connection* stream, bool is_answer_due) = 0;
  // The member has closed its end of a tunnel.
  virtual void OnRelayClosed(Connection* stream) = 0;
  // The member has died.
  virtual void OnRelayFailed(Connection* stream, bool is_begun) = 0;
  // The member has taken bytes of the request.
  virtual void OnRelayDrained(Connection* stream) = 0;
  // True while the request is whole here, so that another member may have it.
  virtual bool CanTakeBack(const Connection* stream) const = 0;
  virtual void TakeBack(Connection* stream) = 0;
  // True when the client has sent and got everything.
  virtual bool IsWhole(const Connection* stream) const = 0;

 protected:
  ~RelayedStreams() = default;
};

// How a connection of HTTP/1.1 becomes one of HTTP/2. Thread: the lane.
class Http2Entry {
 public:
  // From here on the connection's input is frames, beginning with the preface. False: no memory.
  virtual bool Begin(Connection* connection) = 0;
  // The same for a connection whose first request asks for HTTP/2, and is answered on stream 1;
  // `body` is all of its body. False: it stays a request of HTTP/1.1.
  virtual bool Upgrade(Connection* connection, const http1::RequestHead& head,
                       std::string_view settings, std::string_view body) = 0;

 protected:
  ~Http2Entry() = default;
};

}  // namespace httpsys::engine
