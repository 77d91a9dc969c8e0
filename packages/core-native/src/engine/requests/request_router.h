#pragma once
// Finds the server or member that owns a request on a port that several servers share.

#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/requests/arrived_request.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// The interface of the router towards the protocols. Thread: the lane.
class RequestRouter {
 public:
  enum class Outcome : uint8_t {
    kHere,      // The connection has its server, and the route names the prefix.
    kUnrouted,  // The request has no owner: the lane answers according to the route's status.
    // The request waits for its owner, or until earlier answers are complete and sent. The caller
    // must pause with kPauseOrder.
    kLater,
    kElsewhere,  // The connection has moved to another member, with the bytes read, or was closed.
    // The head was sent to another member, and the connection or stream stays here, in a phase that
    // relays the body.
    kRelayed,
    kAnswered,  // The cache of the owner has answered.
  };

  // Returns true if several servers share this port, so that the server of a connection is known
  // only when its first request has been read.
  virtual bool IsShared(uint16_t port) const = 0;
  // Gives a connection, before its TLS handshake begins, to the server or member that has the
  // certificate for this name. Returns false if the connection must no longer be read here.
  virtual bool RouteHello(Connection* connection, std::string_view servername) = 0;
  // Gives a connection that JavaScript does not know, and whose server has stopped listening, to
  // another server or member of the port, or ends the connection.
  virtual void Leave(Connection* connection) = 0;
  // Gives an idle connection, whose server is ending, to another server or member of the port.
  // Returns false if there is none.
  virtual bool MoveAway(Connection* connection) = 0;
  // Returns true if FindServer() must be called for the requests of this connection; false on a
  // port whose only server has the connection already.
  virtual bool MustRoute(const Connection* connection) const = 0;
  // Finds the server or member that gets the request, and sets its route.
  virtual Outcome FindServer(ArrivedRequest* request) = 0;

  // -- A request that another member answers, at the member that has the client.

  // Returns false if the member cannot take more bytes now. Input that pauses for that
  // (kPauseRelay) is resumed later.
  virtual bool CanRelay(const Connection* connection) const = 0;
  // Sends the head of a stream's request, as HTTP/1.1, to the member. Returns false if it cannot be
  // sent now.
  virtual bool RelayStream(Connection* stream, uint64_t member, std::string_view head) = 0;
  // Returns the number of bytes of the request that the member has not taken.
  virtual size_t UnsentBytes(const Connection* connection) const = 0;
  // Sends the bytes behind the head, as received. Does nothing if the relay has ended.
  virtual void RelayMore(Connection* connection, std::string_view bytes) = 0;
  // Informs the member that the client has ended its direction. Returns false if nothing is being
  // relayed.
  virtual bool RelayEnd(Connection* connection) = 0;

  // -- A request that another member relays, at the member that answers.

  // Must be called when an answer to another member's client is complete.
  virtual void OnRelayedAnswer(Connection* connection) = 0;
  virtual void OnRelayedUpgrade(Connection* connection, bool is_accepted) = 0;

  // Must be called when all output of the connection has been given to the socket: the relay may
  // send more.
  virtual void OnOutputDone(Connection* connection) = 0;
  // Counts a request that JavaScript gets, by prefix.
  virtual void CountRequest(Connection* connection, uint32_t prefix_id) = 0;

 protected:
  ~RequestRouter() = default;
};

// The HTTP/2 session, as relays see it, for streams whose requests another member answers. Thread:
// the lane.
class RelayedStreams {
 public:
  // Sends the request's head, and its body so far, to the member. Returns false if no relay can be
  // opened.
  virtual bool BeginRelay(Connection* stream, uint64_t member, const http1::RequestHead& head) = 0;
  // Handles bytes of the answer. The callee copies them.
  virtual void OnRelayedBytes(Connection* stream, std::string_view bytes) = 0;
  // Called when the answer is complete. `closes`: the member takes nothing more of the request.
  virtual void OnRelayedAnswer(Connection* stream, bool closes) = 0;
  // Called when the member has ended its direction of a tunnel, after all bytes.
  virtual void OnRelayedEnd(Connection* stream) = 0;
  virtual void OnRelayedUpgrade(Connection* stream, bool is_accepted) = 0;
  // Called when the member has closed a relay that is not a tunnel. `is_answer_due`: the answer is
  // not complete.
  virtual void OnRelayEnded(Connection* stream, bool is_answer_due) = 0;
  // Called when the member has closed a relay that is a tunnel.
  virtual void OnRelayClosed(Connection* stream) = 0;
  // Called when the member has died or violated the protocol. `is_begun`: part of the answer has
  // arrived.
  virtual void OnRelayFailed(Connection* stream, bool is_begun) = 0;
  // Called when the member has taken bytes of the request: the client's window may grow.
  virtual void OnRelayDrained(Connection* stream) = 0;
  // True while the whole request is kept here, so that another member can get it.
  virtual bool CanTakeBack(const Connection* stream) const = 0;
  // Makes the request wait for its owner again.
  virtual void TakeBack(Connection* stream) = 0;
  // True if the client has sent everything and received the complete answer.
  virtual bool IsWhole(const Connection* stream) const = 0;

 protected:
  ~RelayedStreams() = default;
};

// Access to HTTP/2 streams whose requests JavaScript has received but not begun. Thread: the lane.
class UnbegunStreams {
 public:
  // True while the whole request is kept here, so that another owner of the queue can get it.
  virtual bool CanWithdraw(const Connection* stream) const = 0;
  // Makes the request wait for its owner again. For JavaScript the stream ends.
  virtual void Withdraw(Connection* stream) = 0;

 protected:
  ~UnbegunStreams() = default;
};

// Turns a connection of HTTP/1.1 into one of HTTP/2. Thread: the lane.
class Http2Entry {
 public:
  // Makes the rest of the connection's input HTTP/2 frames, beginning with the client's preface.
  // Returns false if out of memory.
  virtual bool Begin(Connection* connection) = 0;

 protected:
  ~Http2Entry() = default;
};

}  // namespace httpsys::engine
