#pragma once
// State of one client connection or stream, owned by its lane. An idle connection has no buffers:
// its memory cost is sizeof(Connection).

#include <uv.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/small_blocks.h"
#include "engine/connection/input_phase.h"
#include "engine/connection/lane_server.h"
#include "engine/connection/output_queue.h"
#include "engine/connection/protocol_states.h"
#include "engine/connection/uncommon_state.h"
#include "http1/chunked_decoder.h"
#include "http1/request_parser.h"
#include "records/addresses.h"
#include "records/records.h"
#include "tls/session.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

struct Connection;

// Base class of an object with a timer. The timer must be stopped before the object is destroyed.
struct TimerNode {
  static constexpr uint8_t kNoList = 0xff;

  TimerNode* timer_before = nullptr;
  TimerNode* timer_after = nullptr;
  uint64_t deadline_ms = 0;
  uint8_t timer_list = kNoList;

  bool is_timer_running() const { return timer_list != kNoList; }
};

// The action that follows once all output has been given to the socket.
enum class AfterOutput : uint8_t { kNothing, kShutdown, kClose };

// The ended directions of one connection or stream. Only Endings writes this state.
class EndState {
 public:
  AfterOutput after_output() const { return after_output_; }
  // True if the client has ended its sending direction.
  bool peer_ended() const { return peer_ended_; }
  // True if the client sends nothing more, and the connection ends once its output is sent.
  bool is_left() const { return peer_ended_ && after_output_ != AfterOutput::kNothing; }
  // True if the last request had been read to its end when it was answered.
  bool has_read_all() const { return has_read_all_; }
  // True if the sending direction has been shut down.
  bool is_fin_sent() const { return is_fin_sent_; }

 private:
  friend class Endings;

  AfterOutput after_output_ = AfterOutput::kNothing;
  bool peer_ended_ : 1 = false;
  bool has_read_all_ : 1 = false;
  bool is_fin_sent_ : 1 = false;
};

// The reasons not to read a connection's input.
enum PauseReason : uint8_t {
  kPauseWindow = 1 << 0,  // The receive window is used up until JavaScript consumes body or tunnel.
  kPausePipeline = 1 << 1,  // The limit of unanswered requests (pipelinedRequestsMax) is reached.
  kPauseOrder = 1 << 2,     // The next request waits for earlier answers, or for its owner.
  // An upgrade waits for JavaScript, or another member, to accept or decline it.
  kPauseUpgrade = 1 << 3,
  // The lane has no free request segment, or no block to receive into (ReceiveQueue).
  kPauseMemory = 1 << 4,
  // Nothing is read any more: the input has ended or the connection is ending.
  kPauseOver = 1 << 5,
  kPauseRelay = 1 << 6,  // The member that answers the relayed request cannot take more bytes now.
  // A request head waits because more than limits::kUnsentBytesMax of output are unsent.
  kPauseOutput = 1 << 7,
};

// The state of the watch on one connection's socket. Only SocketWatch writes it.
class WatchState {
 public:
  // The reasons not to read, a set of PauseReason.
  uint8_t pauses() const { return pauses_; }
  bool waits_for_disk() const { return waits_for_disk_; }
  bool is_disconnect_told() const { return is_disconnect_told_; }

 private:
  friend class SocketWatch;

  uv_poll_t poll_;
  uint8_t poll_events_ = 0;
  uint8_t pauses_ = 0;
  bool is_watchable_ : 1 = false;        // `poll_` is initialized.
  bool is_unwatchable_ : 1 = false;      // Initializing `poll_` has failed.
  bool is_left_alone_ : 1 = false;       // The connection is in SocketWatch::left_alone_.
  bool is_pending_ : 1 = false;          // The connection is in SocketWatch::pending_.
  bool waits_for_disk_ : 1 = false;      // The next request waits for a disk (kPauseOrder).
  bool is_disconnect_told_ : 1 = false;  // OnDisconnect() was called since reading has paused.
};

// How long one connection may be idle. Only ConnectionTimers writes it.
class IdleState {
 public:
  // The idle timeout that the end of the last response has set. 0 = none; records::kIdleNotCounted
  // = JavaScript measures it, and asks the lane.
  uint32_t timeout_ms() const { return timeout_ms_; }
  // When bytes were read or written last, in ms of the loop's clock modulo 2^32.
  uint32_t active_ms() const { return active_ms_; }

 private:
  friend class ConnectionTimers;

  uint32_t timeout_ms_ = 0;
  uint32_t active_ms_ = 0;
};

// Counts bytes of an HTTP/1 connection that JavaScript does not know of: bytes read of requests
// that the lane answered itself, or bytes written of these answers. Only Announcer writes it.
template <typename Count>
class UnseenState {
  friend class Announcer;

  Count bytes_ = 0;
};

// The stage of a connection's life.
enum class Life : uint8_t {
  kOpen,       // The connection is in use: it is read and written.
  kLingering,  // JavaScript got kClosed. Further input is thrown away.
  kClosing,    // The descriptor is closed. The memory is freed later.
};

// The place of a connection or stream in the lists of its lane and of its server. Only
// ConnectionList writes it.
class ListState {
 public:
  Life life() const { return life_; }
  // The server of the connection; nullptr = the connection is not open any more.
  LaneServer* server() const { return server_; }

 private:
  friend class ConnectionList;

  LaneServer* server_ = nullptr;
  // Neighbours in the list of all connections of the lane.
  Connection* previous_ = nullptr;
  Connection* next_ = nullptr;
  Life life_ = Life::kOpen;
};

// The cost of one lingering connection. Only Endings uses it.
class LingerState {
  friend class Endings;

  // The bytes that were discarded since the connection began to linger.
  uint32_t discarded_bytes_ = 0;
};

// The bytes of one connection or stream that were read but not handled, and the number of bytes
// that may still be read. Only ReceiveWindows writes the window; ReceiveQueue and MemoryQueue write
// what the connection waits for.
class InputState {
 public:
  // The bytes that were received and not handled yet; nullptr = none.
  const std::string* partial() const { return partial_.get(); }
  size_t partial_bytes() const { return partial_ == nullptr ? 0 : partial_->size(); }
  // Appends bytes to the kept bytes, inserts bytes before them, or replaces them.
  void Keep(std::string_view bytes) { MakeKept()->append(bytes); }
  void KeepBefore(std::string_view bytes) { MakeKept()->insert(0, bytes); }
  void KeepOnly(std::unique_ptr<std::string> bytes) { partial_ = std::move(bytes); }
  void KeepOnly(std::string bytes) { KeepOnly(std::make_unique<std::string>(std::move(bytes))); }
  // Returns the kept bytes, or nullptr, and keeps them no longer.
  std::unique_ptr<std::string> TakeKept() { return std::move(partial_); }
  void DropKept() { partial_.reset(); }
  // Drops the first `bytes` of the kept bytes, because they were handled.
  void DropKept(size_t bytes) {
    partial_->erase(0, bytes);
    if (partial_->empty()) partial_.reset();
  }
  // How many bytes of partial() JavaScript has already received or the lane has peeked at.
  uint32_t given_bytes() const { return given_bytes_; }
  void SetGiven(size_t bytes) { given_bytes_ = static_cast<uint32_t>(bytes); }
  // The bytes of body or tunnel that JavaScript may still get before it consumes some. May become
  // negative.
  int32_t window_bytes() const { return window_bytes_; }
  // True if the connection waits in a ReceiveQueue.
  bool waits_for_blocks() const { return waits_for_blocks_; }
  void SetWaitsForBlocks(bool waits) { waits_for_blocks_ = waits; }
  // Allows the next read of the connection to take blocks of its ReceiveQueue before others that
  // wait. TakeReceiveTurn(), called by that read, ends the permission.
  void GiveReceiveTurn() { has_receive_turn_ = true; }
  bool TakeReceiveTurn() {
    const bool had = has_receive_turn_;
    has_receive_turn_ = false;
    return had;
  }
  // True if the connection or stream waits in a MemoryQueue.
  bool waits_for_segment() const { return waits_for_segment_; }
  void SetWaitsForSegment(bool waits) { waits_for_segment_ = waits; }
  // True if the input is to be resumed after this pass.
  bool is_resume_due() const { return is_resume_due_; }
  // Resumes the input after this pass if its only reasons to pause are output and earlier answers.
  void ResumeSoon() { is_resume_due_ = true; }
  // If ResumeSoon() was called, clears its mark and returns true; returns false otherwise.
  bool TakeResumeDue() { return std::exchange(is_resume_due_, false); }

 private:
  friend class ReceiveWindows;

  std::string* MakeKept() {
    if (partial_ == nullptr) partial_ = std::make_unique<std::string>();
    return partial_.get();
  }

  std::unique_ptr<std::string> partial_;
  int32_t window_bytes_ = limits::kReceiveWindowBytes;
  uint32_t given_bytes_ = 0;
  // When was_full_ became true: the lowest bits of the loop's clock in ms.
  uint16_t full_at_ms_ = 0;
  bool is_resume_due_ = false;
  bool was_full_ : 1 = false;  // The window was used up, and JavaScript has not consumed it since.
  // JavaScript consumes full windows fast enough for the extra window.
  bool keeps_up_ : 1 = false;
  bool has_extra_ : 1 = false;         // The window has limits::kReceiveExtraBytes more.
  bool waits_for_blocks_ : 1 = false;  // The connection is in the list of a ReceiveQueue.
  // The connection got its turn in the ReceiveQueue and has not been read since.
  bool has_receive_turn_ : 1 = false;
  bool waits_for_segment_ : 1 = false;  // The connection is in the list of a MemoryQueue.
};

// The moves of one connection or stream between the members of a shared port, and the limits on
// them. Written by src/engine/peers; is_shared() by Announcer.
class SharingState {
 public:
  SharingState() = default;
  // Makes the state of a stream: `hops` is the number of moves of its connection.
  explicit SharingState(uint8_t hops) : hops_(hops) {}

  // How many times, since the last answer, the connection has moved to another member or a relayed
  // request has come back.
  uint8_t hops() const { return hops_; }
  // Records that the connection has come from another member, after `hops` moves.
  void OnReceived(uint8_t hops) { hops_ = hops; }
  // Records that another member has given a request back.
  void OnTakenBack() { ++hops_; }
  // How many hand-overs of the connection were declined or have failed since the last answer.
  uint8_t returns() const { return returns_; }
  void SetReturns(uint8_t returns) { returns_ = returns; }
  // True if the ClientHello was routed by its server name.
  bool is_hello_routed() const { return is_hello_routed_; }
  void SetHelloRouted() { is_hello_routed_ = true; }
  // True if the port counts the connection among its open ones.
  bool is_counted() const { return is_counted_; }
  void SetCounted(bool is_counted) { is_counted_ = is_counted; }
  // True if WaitingRequests holds the connection: its request has no owner yet.
  bool is_waiting() const { return is_waiting_; }
  void SetWaiting(bool is_waiting) { is_waiting_ = is_waiting; }
  // True if another member lent the connection while it was blocked. OwnerChoice knows which
  // member.
  bool is_lent() const { return is_lent_; }
  void SetLent(bool is_lent) { is_lent_ = is_lent; }
  // True if the kOpen record had kFlagShared.
  bool is_shared() const { return is_shared_; }
  void SetShared(bool is_shared) { is_shared_ = is_shared; }
  // How many times a request was claimed back from blocked JavaScript here since the last answer.
  // The same JavaScript gets it again if no other owner can be reached.
  uint8_t reclaims() const { return reclaims_; }
  // Must be called at most limits::kReclaimsMax times since the last answer.
  void OnReclaimed() { reclaims_ = static_cast<uint8_t>((reclaims_ + 1) & limits::kReclaimsMax); }
  // Resets the counts of moves, because a request was answered: the limits apply anew to the next
  // one.
  void ForgetMoves() { hops_ = returns_ = reclaims_ = 0; }

 private:
  uint8_t hops_ = 0;
  uint8_t returns_ = 0;
  bool is_hello_routed_ : 1 = false;
  bool is_counted_ : 1 = false;
  bool is_waiting_ : 1 = false;
  bool is_lent_ : 1 = false;
  bool is_shared_ : 1 = false;
  uint8_t reclaims_ : 3 = 0;
};

// The requests of one connection or stream: the request that is being read, and the number of
// requests without an answer. Written by the protocol that reads the connection, and by the classes
// that answer or relay its requests.
class MessageState {
 public:
  // -- The message that is being read.

  // When the message began; 0 = no message has begun.
  uint64_t start_ns() const { return start_ns_; }
  // Begins a message: its timeouts count from `now_ns`.
  void Begin(uint64_t now_ns) { start_ns_ = now_ns; }
  // Stops the timeouts of messages: the message was read or refused, or no message is expected yet.
  void StopTime() { start_ns_ = 0; }
  // The number of bytes of a body of known length that are still to come. For a chunked body, the
  // number of bytes that have come.
  uint64_t body_bytes() const { return body_bytes_; }
  void SetBodyBytes(uint64_t bytes) { body_bytes_ = bytes; }
  // Must be called when bytes of a body of known length were read.
  void TakeBodyBytes(uint64_t bytes) { body_bytes_ -= bytes; }
  // Must be called when bytes of a chunked body were read.
  void CountBodyBytes(uint64_t bytes) { body_bytes_ += bytes; }
  // The parser of a head that is not complete or waits, and the decoder of a chunked body that has
  // begun; otherwise nullptr.
  http1::RequestParser* parser() const { return parser_.get(); }
  http1::ChunkedDecoder* decoder() const { return decoder_.get(); }
  void LendParser(std::unique_ptr<http1::RequestParser> parser) { parser_ = std::move(parser); }
  void LendDecoder(std::unique_ptr<http1::ChunkedDecoder> decoder) {
    decoder_ = std::move(decoder);
  }
  std::unique_ptr<http1::RequestParser> TakeParser() { return std::move(parser_); }
  std::unique_ptr<http1::ChunkedDecoder> TakeDecoder() { return std::move(decoder_); }
  void DropParser() { parser_.reset(); }
  void DropDecoder() { decoder_.reset(); }
  // True if a head has begun that is not complete.
  bool is_head_begun() const {
    return parser_ != nullptr && parser_->status() == http1::ParseStatus::kNeedMore;
  }
  // True if the message is the last one of the connection.
  bool is_last() const { return is_last_; }
  void SetLast(bool is_last) { is_last_ = is_last; }
  // The phase that follows if JavaScript declines the upgrade (kUpgradeDecline).
  InputPhase declined_phase() const { return declined_phase_; }
  void SetDeclinedPhase(InputPhase phase) { declined_phase_ = phase; }

  // -- All messages.

  // True if a request has been read.
  bool has_served() const { return has_served_; }
  // Records that the connection has had a request, but counts none as unanswered.
  void SetServed() { has_served_ = true; }
  // The number of requests that were read and have no whole answer yet.
  uint32_t unanswered() const { return unanswered_; }
  void SetUnanswered(uint32_t count) { unanswered_ = count; }
  // Counts a request whose head was read. `is_last`: no other request follows.
  void OnHead(bool is_last) {
    has_served_ = true;
    is_last_ = is_last;
    ++unanswered_;
  }
  // Subtracts `count` requests that are answered, or that this connection no longer has to answer.
  void OnAnswered(uint32_t count) { unanswered_ -= std::min(unanswered_, count); }

 private:
  uint64_t start_ns_ = 0;
  uint64_t body_bytes_ = 0;
  std::unique_ptr<http1::RequestParser> parser_;
  std::unique_ptr<http1::ChunkedDecoder> decoder_;
  uint32_t unanswered_ = 0;
  InputPhase declined_phase_ = InputPhase::kHead;
  bool is_last_ : 1 = false;
  bool has_served_ : 1 = false;
};

// The unsent output of one connection or stream. Only OutputPass writes it.
class OutputState {
 public:
  // The output that the socket did not take; nullptr = none. The queue may be empty while bytes
  // that TLS has sealed are still to be sent.
  const OutputQueue* queue() const { return queue_.get(); }
  // True if there is no unsent output, of this pass or of earlier ones.
  bool is_empty() const { return queue_ == nullptr && first_piece_ == 0; }

 private:
  friend class OutputPass;

  // The first and last piece of the connection in the current reply pass; 0 = none.
  uint32_t first_piece_ = 0;
  uint32_t last_piece_ = 0;
  size_t pass_payload_bytes_ = 0;  // The payload of this pass's pieces, as JavaScript counts it.
  // The payload in the queue, as JavaScript counts it.
  size_t queue_payload_bytes_ = 0;
  std::unique_ptr<OutputQueue> queue_;
  uint32_t credit_bytes_ = 0;  // The payload that was sent since the last kCredit record.
  bool has_file_ = false;      // A piece of this pass is a part of a file.
  bool is_touched_ = false;    // The next FlushTouched() flushes the connection.
};

// The number by which JavaScript knows a connection or stream. Only Slots writes it.
class SlotState {
 public:
  // True from kOpen, or the first request of a stream, until kClosed.
  bool is_announced() const { return is_announced_; }
  // The slot's number. Valid if is_announced(); afterwards the last number of the connection.
  uint32_t number() const { return number_; }

 private:
  friend class Slots;

  uint32_t number_ = 0;
  bool is_announced_ = false;
};

// The facts about a connection that its kOpen record will report. Only Announcer writes it.
class AnnouncedState {
 public:
  AnnouncedState() = default;
  explicit AnnouncedState(std::unique_ptr<Addresses> addresses)
      : addresses_(std::move(addresses)) {}

 private:
  friend class Announcer;

  // The addresses of client and server until kOpen has them; nullptr afterwards.
  std::unique_ptr<Addresses> addresses_;
};

// Thread: the lane. ConnectionList owns every Connection. The base TimerNode is the timer of an
// idle or lingering connection. Each state names the class that writes it; all classes may read it.
// The order of the members and [[no_unique_address]] put small states into the padding of larger
// ones.
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
  const std::unique_ptr<Http2Stream> stream;  // nullptr = not a stream.

 private:
  std::unique_ptr<UncommonState> uncommon_;

 public:
  // Makes a connection on a descriptor.
  Connection(int socket, Addresses addresses)
      : phase_(InputPhase::kHead),
        fd(socket),
        local_port(addresses.local_port),
        local_ip(addresses.local_ip),
        announced(std::make_unique<Addresses>(std::move(addresses))) {}
  // Makes a stream of `parent`.
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
    return uncommon_ == nullptr ? nullptr : uncommon_->origin_.get();
  }
  void SetOrigin(std::unique_ptr<RelayOrigin> origin) { uncommon().origin_ = std::move(origin); }
  // Adds to the count of answer bytes that were given to the relay. Does nothing for a connection
  // whose client is connected to this process.
  void CountRelayed(size_t bytes) {
    if (origin() != nullptr) uncommon_->origin_->sent_bytes += bytes;
  }
  // Records whether the answer that is ending closes the client's connection.
  void SetAnswerCloses(bool closes) {
    if (origin() != nullptr) uncommon_->origin_->closes = closes;
  }
  // Records that the relaying member knows of the end of the relay.
  void SetEndTold() { uncommon_->origin_->is_end_told = true; }
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
  // The reason for which the request was refused. Valid in phase kRefused.
  records::ErrorKind refusal() const {
    return uncommon_ == nullptr ? records::ErrorKind{} : uncommon_->refusal_;
  }
  // Refuses the message that is being read.
  void Refuse(records::ErrorKind kind) {
    Enter(InputPhase::kRefused);
    uncommon().refusal_ = kind;
  }

  LaneServer* server() const { return list.server(); }
  // The connection that has the socket: for a stream the connection that carries it, otherwise this
  // one.
  const Connection* real() const { return stream == nullptr ? this : stream->state->connection; }
  Connection* real() { return stream == nullptr ? this : stream->state->connection; }
  bool is_open() const { return list.life() == Life::kOpen; }
  // True while the lane reads nothing from the client because JavaScript has given the lane no
  // memory. The client cannot change that, so its timeouts do not run meanwhile.
  bool IsHeldUp() const { return (real()->watch.pauses() & kPauseMemory) != 0; }
  // True while the connection waits for its next request, after at least one.
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
