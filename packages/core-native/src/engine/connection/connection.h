#pragma once
// What a lane knows of one connection. An idle one owns no buffers, so its memory is this struct.

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
  kOpen,       // Has its slot.
  kLingering,  // JavaScript was told kClosed; what still comes is thrown away.
  kClosing,    // The descriptor is closed; the memory goes when libuv says so.
};

enum class AfterOutput : uint8_t { kNothing, kShutdown, kClose };

// Thread: the lane. Owned by its Transport.
struct Connection : TimerNode, FromSmallBlocks {  // Idle or lingering.
  // Small fields first: they fill what the timer leaves of its last word.
  Life life = Life::kOpen;

 private:
  InputPhase phase_;

 public:
  InputPhase declined_phase = InputPhase::kHead;  // What kUpgradeDecline goes on with.
  uint8_t hops = 0;                               // Between members, since its last answer.
  AfterOutput after_output = AfterOutput::kNothing;
  bool has_served : 1 = false;       // A request has been read.
  bool is_last_request : 1 = false;  // The message being read is the last one.
  bool peer_ended : 1 = false;
  bool has_read_all : 1 = false;  // Up to the end of the last request, when it was answered.
  bool is_fin_sent : 1 = false;
  bool wants_input_resumed : 1 = false;
  bool is_shared : 1 = false;        // Announced with kFlagShared.
  bool is_hello_routed : 1 = false;  // On a shared port: it is where its certificate is.
  bool is_counted : 1 = false;       // Among the open ones of its port.
  bool is_waiting : 1 = false;       // In the lane's list of those whose request has no owner yet.
  bool is_lent : 1 = false;          // By a member that was blocked: the lane's router knows whose.

  WatchState watch;
  LaneServer* server = nullptr;
  Connection* previous = nullptr;  // Of all connections of the lane.
  Connection* next = nullptr;
  int fd = -1;
  SlotState slot;
  LocalAddress local_ip;
  uint8_t returns = 0;  // From members that did not take it, since its last answer.
  uint16_t local_port = 0;

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
  OutputState output;
  uint32_t idle_timeout_ms = 0;          // Set by the record that ended the last response.
  uint32_t discarded_bytes = 0;          // While it lingers.
  std::unique_ptr<Addresses> addresses;  // Until it is announced.
  std::unique_ptr<tls::Session> tls;     // nullptr = plain.

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
