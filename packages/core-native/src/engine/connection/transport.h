#pragma once
// The sockets of a lane: slots, readiness, output, timeouts, and the ways to close.

#include <sys/types.h>
#include <sys/uio.h>
#include <uv.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/timer_lists.h"
#include "records/record_writer.h"

namespace httpsys::engine {

class InputHandler {
 public:
  virtual void OnReadable(Connection* connection) = 0;
  // The peer ended its direction while only kPausePipeline keeps the connection from being read.
  virtual void OnDisconnect(Connection* connection) = 0;
  // The time for its handshake is over.
  virtual void OnHandshakeTimeout(Connection* connection) = 0;
  // The client takes less than the server's minSendRate: the connection is to end.
  virtual void OnTooSlow(Connection* connection) = 0;
  // Nothing more is sent; its sending side is about to be shut down.
  virtual void OnOutputEnding(Connection* connection) = 0;
  // JavaScript hears of a connection, for the first time or as one of another server.
  virtual void OnAnnounced(Connection* connection) = 0;
  // It is no longer open.
  virtual void OnDetached(Connection* connection) = 0;

 protected:
  ~InputHandler() = default;
};

// What sends and receives for the streams of HTTP/2 connections.
class StreamHandler {
 public:
  // A stream, or a connection with streams, has something to send in this pass.
  virtual void OnTouched(Connection* connection) = 0;
  // Sends what it can of all that were touched.
  virtual void FlushSessions() = 0;
  // The socket of a connection with streams has taken its output.
  virtual void OnOutputDone(Connection* connection) = 0;
  // A stream reads again, or no longer.
  virtual void OnPausesChanged(Connection* stream) = 0;
  // Before it is told that it is closed.
  virtual void OnDetach(Connection* connection) = 0;
  virtual void OnTimer(Connection* connection) = 0;
  // What a stream has to send is kept.
  virtual void OnBehind(Connection* stream) = 0;

 protected:
  ~StreamHandler() = default;
};

// Thread: the lane. A Connection stays valid until the loop iteration after it was closed, so a
// caller may look at its `life` after any call.
class Transport {
 public:
  // `load` counts open connections, for whoever distributes new ones. The data of `loop` are its
  // own.
  Transport(uv_loop_t* loop, RecordWriter* records, LentMemory* lent, std::atomic<uint32_t>* load);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void set_input_handler(InputHandler* handler) { handler_ = handler; }
  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // Takes the descriptor over. JavaScript hears of the connection by Announce(); nothing is heard
  // of the client before Watch().
  Connection* Open(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin = nullptr);
  // After what came with it has been read.
  void Watch(Connection* connection);
  // A stream of `parent`. JavaScript hears of it with its request, after Announce().
  Connection* OpenStream(Connection* parent, LaneServer* server,
                         std::unique_ptr<Http2Stream> stream);
  // Flags are those of kOpen. Nothing when it is announced already.
  void Announce(Connection* connection, uint32_t flags);
  // The same for one that is announced already: for JavaScript it is a new one, and the one before
  // has ended then.
  void AnnounceAnew(Connection* connection, uint32_t flags);
  // Gives the connection to another server: for JavaScript it is a new one.
  void Assign(Connection* connection, LaneServer* server);
  // Gives the descriptor away; for JavaScript the connection has ended.
  int Release(Connection* connection);
  // A connection is about to be opened that nobody has counted yet.
  void CountLoad() { load_->fetch_add(1, std::memory_order_relaxed); }
  // The open connection of a slot, or nullptr.
  Connection* Find(uint32_t slot) const;
  // JavaScript has forgotten the slot.
  void ReleaseSlot(uint32_t slot);
  // Every connection; it may close the one that it is called with.
  template <typename Function>
  void ForEach(Function function) {
    for (Connection *at = first_, *next = nullptr; at != nullptr; at = next) {
      next = at->next;
      function(at);
    }
  }

  // -- Output. Bytes must stay valid until FlushTouched().

  // `payload_bytes` of them count for the connection's credits; JavaScript does not count framing.
  void Send(Connection* connection, std::string_view bytes, size_t payload_bytes);
  // A few bytes that are copied at once.
  void SendCopy(Connection* connection, std::string_view bytes);
  void SendBlock(Connection* connection, uint32_t block_id, std::string_view bytes);
  // Bytes that `owner` keeps: several connections may send the same. Let go of when they are sent.
  void SendShared(Connection* connection, std::shared_ptr<const void> owner, std::string_view bytes,
                  size_t payload_bytes);
  // For records without bytes that act after output: the connection takes part in FlushTouched().
  void Touch(Connection* connection);
  // One send per touched connection. Returns them in `touched` (some may be closed by now).
  void FlushTouched(std::vector<Connection*>* touched);
  bool has_touched() const { return !touched_.empty(); }
  void Flush(Connection* connection);
  // Gives bytes to the socket, and keeps what it does not take. For connections that send nothing
  // by the methods above. False when it was closed by an error.
  bool WriteNow(Connection* connection, std::string_view bytes);
  // FinishAfterOutput() for these.
  void FinishNow(Connection* connection);
  // Moves up to `bytes` of a stream's output behind `to`.
  void TakeOutput(Connection* stream, size_t bytes, std::string* to);
  // Bytes of records that need not be sent count as sent.
  void Credit(Connection* stream, size_t bytes) { AddCredit(stream, bytes); }
  void ReturnBlock(uint32_t block_id) { ReportBlocks({block_id}, 0); }
  // What a stream has to send.
  size_t OutputBytes(const Connection* stream) const;
  // Bytes that a connection has accepted for sending and its socket has not taken: those that wait,
  // sealed ones included, and the payload of the current reply pass.
  static size_t UnsentBytes(const Connection& connection) {
    size_t bytes = connection.pass_payload_bytes;
    if (connection.queue != nullptr) {
      bytes += connection.queue->bytes();
      if (connection.tls != nullptr) bytes += connection.tls->unsent_bytes();
    }
    return bytes;
  }
  // True while the head of the next request has to wait for the client to read.
  static bool IsBehind(const Connection& connection) {
    return UnsentBytes(connection) > limits::kUnsentBytesMax;
  }
  // Pieces of output that wait for FlushTouched().
  size_t pass_pieces() const { return pieces_.size() - 1; }
  // Connections whose output the kernel has not taken.
  size_t pending_outputs() const { return pending_outputs_; }

  // Output that the session of TLS has made by itself; the connection may be closed by it.
  void FlushSealed(Connection* connection);

  // -- Reading.

  // As recv(2) without blocking: -1 and errno, 0 at the end of the peer's data.
  ssize_t Receive(Connection* connection, void* memory, size_t bytes);
  void Pause(Connection* connection, PauseReason reason);
  // True when no reason is left.
  bool Resume(Connection* connection, PauseReason reason);
  // Acts on `pauses`; the reasons alone stop nothing until the next readiness.
  void UpdatePoll(Connection* connection);
  // It may have been read in part: what TLS has opened already is read without a readiness.
  void CheckPending(Connection* connection);

  // -- Ends.

  // After all output: the sending side, or all of it (then reads on for a while, see limits).
  void FinishAfterOutput(Connection* connection, AfterOutput action);
  // Now. `error` is a positive errno or 0.
  void Close(Connection* connection, int error);
  // Of a stream; `is_told_late` as below.
  void CloseStream(Connection* stream, bool is_told_late);
  // Gives a connection or a stream to another server, before JavaScript hears of it.
  static void SetServer(Connection* connection, LaneServer* server);
  // The same before the first byte of TLS is read. False when out of memory.
  bool RestartTls(Connection* connection, LaneServer* server);
  // Now, but what the peer still sends is thrown away, so that it can read the last reply.
  // `is_told_late`: the application has ended it, and nobody waits to hear that it has happened.
  void CloseLingering(Connection* connection, bool is_told_late = false);
  // An upgrade of which nobody has said what its bytes are, and as many are kept as may be.
  static bool IsUndecidedFull(const Connection& connection);
  // Ends such an upgrade when JavaScript has ended its direction: nobody is going to read it, and
  // the client's end would never be met behind what is unread.
  void CloseIfRefusedUpgrade(Connection* connection);
  void Reset(Connection* connection, int error = 0);
  // Once per turn, before the poll: connections that were left alone for a while.
  void WatchOverdue();
  // What was closed without libuv is forgotten here: nobody may look at it any more.
  void FreeClosed();
  // Closes everything without telling JavaScript.
  void Shutdown();
  bool is_empty() const { return allocated_ == 0; }

  void StartIdleTimer(Connection* connection, uint64_t timeout_ms);
  void StopTimer(Connection* connection);

 private:
  struct Piece {
    const uint8_t* data = nullptr;  // nullptr: `copy`.
    size_t bytes = 0;
    uint32_t next = 0;
    uint32_t block_id = OutputQueue::kNoBlock;
    uint32_t owner = 0;  // In owners_; 0 = none.
    char copy[12];

    std::string_view view() const {
      return {data == nullptr ? copy : reinterpret_cast<const char*>(data), bytes};
    }
  };

  struct Slot {
    Connection* connection = nullptr;
    bool is_closed = true;
    bool is_released = true;
  };

  struct Unwatched {
    Connection* connection;
    uint64_t since_ms;
    bool is_lingering;
  };

  static void OnPoll(uv_poll_t* poll, int status, int events);
  static void OnTimer(uv_timer_t* timer);
  static void OnRateTimer(uv_timer_t* timer);
  static void OnPollClosed(uv_handle_t* handle);
  static void OnPending(uv_idle_t* idle);

  bool MakeWatchable(Connection* connection);
  void AddPending(Connection* connection);
  bool BeginTls(Connection* connection);
  uint32_t TakeSlot(Connection* connection);
  void FreeSlotIfDone(uint32_t slot);
  Piece* AddPiece(Connection* connection, size_t bytes, size_t payload_bytes);

  bool SendPieces(Connection* connection, uint32_t* piece, size_t* offset);
  // As sendmsg(2) without blocking.
  // `is_end`: nothing follows but the end.
  ssize_t Write(Connection* connection, iovec* vectors, int count, bool is_end = false);
  ssize_t SendOnce(Connection* connection, uint32_t piece, size_t offset, size_t* attempted);
  void Advance(size_t bytes, uint32_t* piece, size_t* offset);
  void EnqueuePieces(Connection* connection, uint32_t piece, size_t offset);
  void KeepStreamOutput(Connection* stream);
  void Link(Connection* connection, LaneServer* server);
  void Unlink(Connection* connection);
  void OnWritable(Connection* connection);
  void WriteQueue(Connection* connection);
  void DropOutput(Connection* connection);
  void TrimSoon();
  void OutputDone(Connection* connection);
  void BeginQueue(Connection* connection);
  static bool IsCreditDue(const Connection& connection);
  void AddCredit(Connection* connection, size_t bytes);
  void ReportBlocks(const std::vector<uint32_t>& blocks, int error);

  void Detach(Connection* connection, int error, bool is_told_late = false);
  void TellClosed(Connection* connection, int error, bool is_told_late = false);
  void CloseHandle(Connection* connection);
  void LookLater(Connection* connection);
  void WatchLingering(Connection* connection);
  void ReadLingering(Connection* connection);
  void CloseDescriptor(Connection* connection);
  void ArmTimer();
  void ArmRateTimer(const Connection& connection);
  bool IsTooSlow(const Connection& connection) const;

  uv_loop_t* loop_;
  RecordWriter* records_;
  LentMemory* lent_;
  std::atomic<uint32_t>* load_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;
  uv_timer_t timer_;
  uv_idle_t pending_idle_;  // Runs while there is something in pending_.
  uint64_t timer_deadline_ms_ = UINT64_MAX;
  TimerLists timers_;
  uv_timer_t rate_timer_;  // Runs while a client with a minSendRate has not taken all.
  uv_timer_t trim_timer_;
  size_t dropped_outputs_ = 0;  // Since the last trim.
  uv_timer_t unwatched_timer_;
  std::deque<Unwatched> unwatched_;  // The one that has waited longest is the first.

  Connection* first_ = nullptr;
  size_t allocated_ = 0;
  size_t pending_outputs_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::vector<Piece> pieces_;  // Of the current reply pass; index 0 is unused.
  std::vector<std::shared_ptr<const void>> owners_;  // Of these pieces; index 0 is unused.
  std::vector<Connection*> touched_;
  std::vector<Connection*> pending_;
  std::vector<char> gathered_;
  tls::WireBuffer wire_;
  std::vector<uint32_t> blocks_;  // Scratch.
  std::vector<std::unique_ptr<Connection>> closed_;
};

}  // namespace httpsys::engine
