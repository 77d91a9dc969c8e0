#pragma once
// State of one client connection or stream, owned by its lane. An idle connection has no buffers:
// its memory cost is sizeof(Connection).

#include <cstdint>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/small_blocks.h"
#include "engine/config/server_config.h"
#include "engine/connection/http2_state.h"
#include "engine/connection/input_phase.h"
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

enum class Life : uint8_t {
  kOpen,       // The connection has its slot.
  kLingering,  // JavaScript was told kClosed. Further input is thrown away.
  kClosing,    // The descriptor is closed. libuv has yet to let go of the memory.
};

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
  // How often the connection has moved between members since its last answer.
  uint8_t hops = 0;
  AfterOutput after_output = AfterOutput::kNothing;
  bool has_served : 1 = false;       // A request has been read.
  bool is_last_request : 1 = false;  // The message being read is the last one.
  bool peer_ended : 1 = false;
  // True if the last request had been read to its end when it was answered.
  bool has_read_all : 1 = false;
  bool is_fin_sent : 1 = false;
  bool wants_input_resumed : 1 = false;
  bool is_shared : 1 = false;        // kOpen had kFlagShared.
  bool is_hello_routed : 1 = false;  // The ClientHello has found the member with the certificate.
  bool is_counted : 1 = false;       // The port counts the connection among its open ones.
  bool is_waiting : 1 = false;       // WaitingRequests has it: the request has no owner yet.
  bool is_lent : 1 = false;          // A blocked member has lent it. OwnerChoice knows which one.

  WatchState watch;
  LaneServer* server = nullptr;
  // The list of all connections of the lane.
  Connection* previous = nullptr;
  Connection* next = nullptr;
  int fd = -1;
  SlotState slot;
  LocalAddress local_ip;
  // How often a member has given the connection back since its last answer.
  uint8_t returns = 0;
  uint16_t local_port = 0;

  // Input. The pointers are empty, except within a message that is not whole yet.
  uint32_t unanswered = 0;
  // How many bytes of `partial` JavaScript has already, or the lane has peeked at.
  uint32_t given_bytes = 0;
  int64_t window_bytes;
  // The bytes of the body that are still to come. Of a chunked body, those that have come.
  uint64_t body_bytes = 0;
  uint64_t message_start_ns = 0;  // 0 = no message has begun.
  std::unique_ptr<std::string> partial;
  std::unique_ptr<std::string> raw;  // A chunked message as it came, for kError.
  std::unique_ptr<http1::RequestParser> parser;
  std::unique_ptr<http1::ChunkedDecoder> decoder;
  std::unique_ptr<WebSocketState> websocket;  // Valid in phase kWebSocket.
  std::unique_ptr<Http2State> http2;          // Valid in phase kHttp2.
  std::unique_ptr<Http2Stream> stream;        // Not nullptr: this is a stream, without an fd.

  // Output.
  OutputState output;
  uint32_t idle_timeout_ms = 0;          // Set by the record that ended the last response.
  uint32_t discarded_bytes = 0;          // How much a lingering connection has thrown away.
  std::unique_ptr<Addresses> addresses;  // nullptr as soon as JavaScript was told of them.
  std::unique_ptr<tls::Session> tls;     // nullptr = no TLS.

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
