#pragma once
// State of one client connection or stream, owned by its lane. An idle connection has no buffers:
// its memory cost is sizeof(Connection).

#include <cstdint>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/small_blocks.h"
#include "engine/connection/http2_state.h"
#include "engine/connection/input_phase.h"
#include "engine/connection/lane_server.h"
#include "engine/connection/output_state.h"
#include "engine/connection/slot_state.h"
#include "engine/connection/timer_lists.h"
#include "engine/connection/uncommon_state.h"
#include "engine/connection/watch_state.h"
#include "engine/connection/websocket_state.h"
#include "http1/chunked_decoder.h"
#include "http1/request_parser.h"
#include "records/addresses.h"
#include "records/records.h"
#include "tls/session.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// How much of a connection still exists.
enum class Life : uint8_t {
  kOpen,       // The connection has its slot.
  kLingering,  // JavaScript was told kClosed. Further input is thrown away.
  kClosing,    // The descriptor is closed. libuv has yet to let go of the memory.
};

// What happens once all output has been given to the socket.
enum class AfterOutput : uint8_t { kNothing, kShutdown, kClose };

// Thread: the lane. Transport owns every Connection. TimerNode is the timer of an idle or lingering
// connection.
struct Connection : TimerNode, FromSmallBlocks {
  // The small fields come first: they fill what the timer leaves of its last word.
  Life life = Life::kOpen;

 private:
  InputPhase phase_;

 public:
  // The phase that follows kUpgradeDecline.
  InputPhase declined_phase = InputPhase::kHead;
  // How many times the connection has moved to another member, or a relayed request has come back,
  // since the last answer.
  uint8_t hops = 0;
  AfterOutput after_output = AfterOutput::kNothing;
  bool has_served : 1 = false;       // A request has been read.
  bool is_last_request : 1 = false;  // The message being read is the last one.
  // True if the peer has ended its sending direction.
  bool peer_ended : 1 = false;
  // True if the last request had been read to its end when it was answered.
  bool has_read_all : 1 = false;
  // True if the sending direction has been shut down.
  bool is_fin_sent : 1 = false;
  // True if Exchanges::ResumeWanted() is to resume the input after this pass.
  bool wants_input_resumed : 1 = false;
  bool is_shared : 1 = false;        // The kOpen record had kFlagShared.
  bool is_hello_routed : 1 = false;  // The ClientHello was routed by its server name.
  bool is_counted : 1 = false;       // The port counts the connection among its open ones.
  // WaitingRequests holds the connection: its request has no owner yet.
  bool is_waiting : 1 = false;
  // Another member lent the connection while it was blocked. OwnerChoice knows which member.
  bool is_lent : 1 = false;

  WatchState watch;
  LaneServer* server = nullptr;
  // The list of all connections of the lane.
  Connection* previous = nullptr;
  Connection* next = nullptr;
  int fd = -1;
  SlotState slot;
  LocalAddress local_ip;
  // How many hand-overs of the connection were declined or have failed since the last answer.
  uint8_t returns = 0;
  uint16_t local_port = 0;

  // -- Input.

  // The number of requests that were read and have no whole answer yet.
  uint32_t unanswered = 0;
  // The number of bytes of `partial` that JavaScript has already received or that the lane has
  // peeked at.
  uint32_t given_bytes = 0;
  // The bytes of body or tunnel that JavaScript may still be given before it consumes some. May
  // become negative.
  int64_t window_bytes;
  // With a known length: the bytes of the body that are still to come. With a chunked body: the
  // bytes that have come.
  uint64_t body_bytes = 0;
  uint64_t message_start_ns = 0;  // 0 = no message has begun.
  // Bytes that were received and not handled yet. This and the next three pointers are nullptr
  // except within a message that is not whole.
  std::unique_ptr<std::string> partial;
  std::unique_ptr<std::string> raw;  // The bytes of a chunked message as received, for kError.
  std::unique_ptr<http1::RequestParser> parser;
  std::unique_ptr<http1::ChunkedDecoder> decoder;
  std::unique_ptr<WebSocketState> websocket;  // Not nullptr from phase kWebSocket on.
  std::unique_ptr<Http2State> http2;          // Not nullptr from phase kHttp2 on.
  std::unique_ptr<Http2Stream> stream;        // Not nullptr for a stream, whose fd is -1.

  // -- Output.
  OutputState output;
  // Taken from the record that ended the last response. 0 = no timeout.
  uint32_t idle_timeout_ms = 0;
  // The bytes that were discarded since the connection began to linger.
  uint32_t discarded_bytes = 0;
  // The addresses until JavaScript is told of them; nullptr afterwards.
  std::unique_ptr<Addresses> addresses;
  std::unique_ptr<tls::Session> tls;  // nullptr = no TLS.

 private:
  std::unique_ptr<UncommonState> uncommon_;

 public:
  explicit Connection(InputPhase first = InputPhase::kHead) : phase_(first) {}

  InputPhase phase() const { return phase_; }
  // The only way from one phase to another. Aborts where NextPhases() does not have it.
  void Enter(InputPhase next) {
    HTTPSYS_CHECK(MayFollow(phase_, next));
    phase_ = next;
  }

  // The JavaScript environment that hears of the connection. Valid while the connection is open.
  Attachment& attachment() const { return *server->attachment; }

  UncommonState& uncommon() {
    if (uncommon_ == nullptr) uncommon_ = std::make_unique<UncommonState>();
    return *uncommon_;
  }
  // The requests that another member answers, or nullptr.
  RelayState* relay() const { return uncommon_ == nullptr ? nullptr : uncommon_->relay; }
  // nullptr = the client is connected to this process.
  RelayOrigin* origin() const { return uncommon_ == nullptr ? nullptr : uncommon_->origin.get(); }
  // Valid in phase kRefused.
  records::ErrorKind refusal() const {
    return uncommon_ == nullptr ? records::ErrorKind{} : uncommon_->refusal;
  }

  bool is_open() const { return life == Life::kOpen; }
  // True between two requests, after the first one.
  bool IsIdle() const {
    return phase_ == InputPhase::kHead && has_served && unanswered == 0 && message_start_ns == 0 &&
           partial == nullptr;
  }
  // True if no byte of a first request has come.
  bool IsUnserved() const {
    return phase_ == InputPhase::kHead && !has_served && parser == nullptr && partial == nullptr;
  }
  // Called when a request was answered: the limits on moves count anew for the next one.
  void ForgetMoves() { hops = returns = 0; }
};

// malloc() of glibc takes 432 bytes for 424. The strings and maps of other C++ libraries have other
// sizes.
#ifdef __GLIBC__
static_assert(sizeof(Connection) <= 424);
#else
static_assert(sizeof(Connection) <= 448);
#endif

}  // namespace httpsys::engine
