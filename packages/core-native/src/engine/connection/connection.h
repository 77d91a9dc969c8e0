#pragma once
// State of one client connection or stream, owned by its lane. An idle connection has no buffers:
// its memory cost is sizeof(Connection).

#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/small_blocks.h"
#include "engine/connection/announced_state.h"
#include "engine/connection/end_state.h"
#include "engine/connection/http2_state.h"
#include "engine/connection/idle_state.h"
#include "engine/connection/input_phase.h"
#include "engine/connection/input_state.h"
#include "engine/connection/lane_server.h"
#include "engine/connection/linger_state.h"
#include "engine/connection/list_state.h"
#include "engine/connection/message_state.h"
#include "engine/connection/output_state.h"
#include "engine/connection/sharing_state.h"
#include "engine/connection/slot_state.h"
#include "engine/connection/timer_lists.h"
#include "engine/connection/uncommon_state.h"
#include "engine/connection/unseen_state.h"
#include "engine/connection/watch_state.h"
#include "engine/connection/websocket_state.h"
#include "records/addresses.h"
#include "records/records.h"
#include "tls/session.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Thread: the lane. ConnectionList owns every Connection. TimerNode is the timer of an idle or
// lingering connection. The header of each state names the one class that writes it. The order of
// the members and [[no_unique_address]] put small states into the padding of larger ones.
struct Connection : TimerNode, FromSmallBlocks {
 private:
  InputPhase phase_;

 public:
  [[no_unique_address]] EndState end;
  const int fd = -1;  // The client's socket; -1 = a stream.
  [[no_unique_address]] WatchState watch;
  [[no_unique_address]] IdleState idle;
  [[no_unique_address]] UnseenState<uint32_t> unseen_read;
  [[no_unique_address]] ListState list;
  const uint16_t local_port;
  [[no_unique_address]] LingerState linger;
  [[no_unique_address]] InputState input;
  [[no_unique_address]] SharingState sharing;
  [[no_unique_address]] MessageState message;
  [[no_unique_address]] OutputState output;
  [[no_unique_address]] SlotState slot;
  const LocalAddress local_ip;
  [[no_unique_address]] AnnouncedState announced;
  [[no_unique_address]] UnseenState<uint64_t> unseen_written;

  // The states of protocols. Each protocol makes and writes its own.

  std::unique_ptr<tls::Session> tls;          // nullptr = no TLS.
  std::unique_ptr<WebSocketState> websocket;  // Not nullptr from phase kWebSocket on.
  std::unique_ptr<Http2State> http2;          // Not nullptr from phase kHttp2 on.
  const std::unique_ptr<Http2Stream> stream;  // Not nullptr for a stream.

 private:
  std::unique_ptr<UncommonState> uncommon_;

 public:
  // A connection on a descriptor.
  Connection(int socket, Addresses addresses)
      : phase_(InputPhase::kHead),
        fd(socket),
        local_port(addresses.local_port),
        local_ip(addresses.local_ip),
        announced(std::make_unique<Addresses>(std::move(addresses))) {}
  // A stream of a connection.
  Connection(const Connection& parent, std::unique_ptr<Http2Stream> own)
      : phase_(InputPhase::kStream),
        local_port(parent.local_port),
        sharing(parent.sharing.hops()),
        local_ip(parent.local_ip),
        stream(std::move(own)) {}

  InputPhase phase() const { return phase_; }
  // Changes the phase. Aborts if NextPhases() does not allow the change.
  void Enter(InputPhase next) {
    HTTPSYS_CHECK(MayFollow(phase_, next));
    phase_ = next;
  }

  // The attachment of the JavaScript environment that gets the connection's records. Valid while
  // the connection is open.
  Attachment& attachment() const { return *server()->attachment; }

  // Returns the uncommon state for writing, and makes it first if necessary.
  UncommonState& uncommon() {
    if (uncommon_ == nullptr) uncommon_ = std::make_unique<UncommonState>();
    return *uncommon_;
  }
  // The relay of a connection whose requests another member answers, or nullptr.
  RelayState* relay() const { return uncommon_ == nullptr ? nullptr : uncommon_->relayed.relay; }
  // The client of a relayed connection; nullptr = the client is connected to this process.
  const RelayOrigin* origin() const {
    return uncommon_ == nullptr ? nullptr : uncommon_->origin.origin.get();
  }
  // True if the connection counts for a limit on the number of connections.
  bool is_counted() const { return uncommon_ != nullptr && !uncommon_->counted.list_.empty(); }
  // True if the output counts for a prefix with maxBandwidth.
  bool is_throttled() const {
    return uncommon_ != nullptr && uncommon_->bandwidth.bucket != nullptr;
  }
  // True while the output waits for its prefix's bandwidth. For a stream: while the output of its
  // connection waits.
  bool is_throttle_waiting() const {
    const UncommonState* state = real()->uncommon_.get();
    return state != nullptr && state->bandwidth.ticket != 0;
  }
  // True while the output waits for its prefix's bandwidth, or for a file.
  bool is_held() const {
    return uncommon_ != nullptr &&
           (uncommon_->bandwidth.ticket != 0 || uncommon_->file_reading.wait != 0);
  }
  // True if FileOutput has set a part of file_reading.
  bool is_reading_file() const { return uncommon_ != nullptr && uncommon_->file_reading.is_used; }
  // True if the output has waited for a file for at least `ms`; `now_ms` is uv_now() of the loop.
  bool HasWaitedForFile(uint64_t ms, uint64_t now_ms) const {
    return uncommon_ != nullptr && uncommon_->file_reading.wait != 0 &&
           now_ms - uncommon_->file_reading.since_ms >= ms;
  }
  // The bytes of a file that were read ahead, or nullptr.
  const files::FileBlock* file_block() const {
    return uncommon_ == nullptr ? nullptr : uncommon_->file_reading.block.get();
  }
  // Why the request was refused. Valid in phase kRefused.
  records::ErrorKind refusal() const {
    return uncommon_ == nullptr ? records::ErrorKind{} : uncommon_->refusal.kind;
  }

  LaneServer* server() const { return list.server(); }
  // The connection that has the socket: for a stream the connection that carries it, otherwise this
  // one.
  const Connection* real() const { return stream == nullptr ? this : stream->state->connection; }
  Connection* real() { return stream == nullptr ? this : stream->state->connection; }
  bool is_open() const { return list.life() == Life::kOpen; }
  // True while the lane reads nothing from the client because JavaScript has given it no memory.
  // The client cannot change that, so its timeouts do not run meanwhile.
  bool IsHeldUp() const { return (real()->watch.pauses() & kPauseMemory) != 0; }
  // True between two requests, after the first one.
  bool IsIdle() const {
    return phase_ == InputPhase::kHead && message.has_served() && message.unanswered() == 0 &&
           message.start_ns() == 0 && input.partial() == nullptr;
  }
  // True if no byte of the first request has been received.
  bool IsUnserved() const {
    return phase_ == InputPhase::kHead && !message.has_served() && message.parser() == nullptr &&
           input.partial() == nullptr;
  }
};

// Limits the memory of a connection: glibc's malloc() takes 432 bytes for 424. On other systems
// uv_poll_t is larger.
#if defined(__linux__) && defined(__LP64__)
static_assert(sizeof(Connection) <= 424);
#else
static_assert(sizeof(Connection) <= 448);
#endif

}  // namespace httpsys::engine
