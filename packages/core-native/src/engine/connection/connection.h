#pragma once
// What a lane knows of one connection. An idle one owns no buffers, so its memory is this struct.

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/small_blocks.h"
#include "engine/config/server_config.h"
#include "engine/connection/http2_state.h"
#include "engine/connection/input_phase.h"
#include "engine/connection/output_queue.h"
#include "engine/connection/timer_lists.h"
#include "engine/connection/websocket_state.h"
#include "http1/chunked_decoder.h"
#include "http1/request_parser.h"
#include "records/addresses.h"
#include "records/records.h"
#include "tls/session.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// What the relay of a connection knows, whose requests another member answers: peers/relays.
struct RelayState {};

// Of a connection that is one end of a relay: the client's is with another member.
struct RelayOrigin {
  uint64_t link = 0;  // Over which it came.
  uint32_t id = 0;
  uint64_t sent_bytes = 0;
  bool closes = false;       // With the answer that ends now.
  bool is_stream = false;    // The client's is one of HTTP/2.
  bool is_end_told = false;  // To whoever relays it.
  Addresses addresses;
  std::string facts;  // Of its TLS, as kOpen has them; empty = plain.
  std::string trust;  // tls::Session::trust() of that.
};

enum class Life : uint8_t {
  kOpen,       // Has its slot.
  kLingering,  // JavaScript was told kClosed; what still comes is thrown away.
  kClosing,    // The descriptor is closed; the memory goes when libuv says so.
};

enum class AfterOutput : uint8_t { kNothing, kShutdown, kClose };

// Why input is left unread.
enum PauseReason : uint8_t {
  kPauseWindow = 1 << 0,    // JavaScript has not consumed enough of the body.
  kPausePipeline = 1 << 1,  // Enough requests wait for their answers.
  kPauseOrder = 1 << 2,     // A native answer waits for the answers before it.
  kPauseUpgrade = 1 << 3,
  kPauseMemory = 1 << 4,  // No segment is free.
  kPauseOver = 1 << 5,
  kPauseRelay = 1 << 6,  // The member that answers does not read.
  // Before a head: more than limits::kUnsentBytesMax wait for the socket to take them.
  kPauseOutput = 1 << 7,
};

// Thread: the lane. Owned by its Transport.
struct Connection : TimerNode, FromSmallBlocks {  // Idle or lingering.
  // Small fields first: they fill what the timer leaves of its last word.
  Life life = Life::kOpen;
  uint8_t poll_events = 0;

 private:
  InputPhase phase_;

 public:
  InputPhase declined_phase = InputPhase::kHead;  // What kUpgradeDecline goes on with.
  uint8_t pauses = 0;
  uint8_t hops = 0;  // Between members, since its last answer.
  AfterOutput after_output = AfterOutput::kNothing;

  uv_poll_t poll;
  LaneServer* server = nullptr;
  Connection* previous = nullptr;  // Of all connections of the lane.
  Connection* next = nullptr;
  int fd = -1;
  uint32_t slot = 0;
  LocalAddress local_ip;
  uint8_t returns = 0;  // From members that did not take it, since its last answer.
  uint16_t local_port = 0;

  bool has_served : 1 = false;       // A request has been read.
  bool is_last_request : 1 = false;  // The message being read is the last one.
  bool peer_ended : 1 = false;
  bool is_watchable : 1 = false;        // `poll` is initialized.
  bool is_unwatchable : 1 = false;      // That has failed.
  bool is_unwatched : 1 = false;        // Lingers, or is to be answered, and is looked at later.
  bool has_read_all : 1 = false;        // Up to the end of the last request, when it was answered.
  bool is_disconnect_told : 1 = false;  // While kPausePipeline alone stops reading.
  bool is_fin_sent : 1 = false;
  bool is_touched : 1 = false;  // In the list of the current reply pass.
  bool wants_input_resumed : 1 = false;
  bool is_announced : 1 = false;     // JavaScript knows it: it has a slot.
  bool is_shared : 1 = false;        // Announced with kFlagShared.
  bool is_hello_routed : 1 = false;  // On a shared port: it is where its certificate is.
  bool is_pending : 1 = false;       // In the list of those with input that no readiness tells of.
  bool is_counted : 1 = false;       // Among the open ones of its port.
  bool is_waiting : 1 = false;       // In the lane's list of those whose request has no owner yet.
  bool is_lent : 1 = false;          // By a member that was blocked: the lane's router knows whose.
  records::ErrorKind refusal{};      // Of kRefused.

  // Input. The pointers are empty except within a message that is not whole yet.
  uint32_t unanswered = 0;
  uint32_t given_bytes = 0;  // Of `partial`, already in an upgrade's kRequest; or peeked at.
  int64_t window_bytes;
  uint64_t body_bytes = 0;        // Left; of a chunked one, so far.
  uint64_t message_start_ns = 0;  // 0 = no message has begun.
  std::unique_ptr<std::string> partial;
  std::unique_ptr<std::string> raw;  // Of a chunked message, for kError.
  std::unique_ptr<http1::RequestParser> parser;
  std::unique_ptr<http1::ChunkedDecoder> decoder;
  std::unique_ptr<WebSocketState> websocket;  // In phase kWebSocket.
  std::unique_ptr<Http2State> http2;          // In phase kHttp2.
  std::unique_ptr<Http2Stream> stream;        // Of a connection that is a stream: it has no fd.

  // Output.
  uint32_t first_piece = 0;  // Of the current reply pass; 0 = none.
  uint32_t last_piece = 0;
  uint32_t idle_timeout_ms = 0;   // Set by the record that ended the last response.
  size_t pass_payload_bytes = 0;  // Of these pieces, as JavaScript counts.
  size_t queue_payload_bytes = 0;
  // That left since the last kCredit; of a lingering one, thrown away so far.
  size_t credit_bytes = 0;
  std::unique_ptr<OutputQueue> queue;
  RelayState* relay = nullptr;  // Requests that another member answers.
  std::unique_ptr<RelayOrigin> origin;
  std::unique_ptr<Addresses> addresses;  // Until it is announced.
  std::unique_ptr<tls::Session> tls;     // nullptr = plain.

  explicit Connection(InputPhase first = InputPhase::kHead) : phase_(first) {}

  InputPhase phase() const { return phase_; }
  // The only way from one phase to another. Aborts where NextPhases() does not have it.
  void Enter(InputPhase next) {
    HTTPSYS_CHECK(MayFollow(phase_, next));
    phase_ = next;
  }

  bool is_open() const { return life == Life::kOpen; }
  // Between two requests, after the first one.
  bool IsIdle() const {
    return phase_ == InputPhase::kHead && has_served && unanswered == 0 && message_start_ns == 0 &&
           partial == nullptr;
  }
  // No byte of a first request has come.
  bool IsUnserved() const {
    return phase_ == InputPhase::kHead && !has_served && parser == nullptr && partial == nullptr;
  }
  // The next request looks for its owner anew.
  void ForgetMoves() { hops = returns = 0; }
};

// What malloc() of glibc gives for 432 bytes. Other C++ libraries' strings and maps have other
// sizes.
#ifdef __GLIBC__
static_assert(sizeof(Connection) <= 424);
#else
static_assert(sizeof(Connection) <= 448);
#endif

}  // namespace httpsys::engine
