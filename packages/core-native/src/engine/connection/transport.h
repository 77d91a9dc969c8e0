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
#include "engine/connection/output_pass.h"
#include "engine/connection/stream_handler.h"
#include "engine/connection/timer_lists.h"
#include "records/record_writer.h"

namespace httpsys::engine {

class InputHandler {
 public:
  virtual void OnReadable(Connection* connection) = 0;
  // The peer ended its direction while only kPausePipeline keeps the connection from being read.
  virtual void OnDisconnect(Connection* connection) = 0;
  // Its timer has run out.
  virtual void OnTimeout(Connection* connection) = 0;
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

// Thread: the lane. A Connection stays valid until the loop iteration after it was closed, so a
// caller may look at its `life` after any call.
class Transport final : public OutputOwner {
 public:
  // `load` counts open connections, for whoever distributes new ones. The data of `loop` are its
  // own.
  Transport(uv_loop_t* loop, RecordWriter* records, LentMemory* lent, std::atomic<uint32_t>* load);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void set_input_handler(InputHandler* handler) { handler_ = handler; }
  void set_stream_handler(StreamHandler* handler) {
    streams_ = handler;
    output_.set_stream_handler(handler);
  }
  OutputPass* output() { return &output_; }

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

  // -- Reading.

  // As recv(2) without blocking: -1 and errno, 0 at the end of the peer's data.
  ssize_t Receive(Connection* connection, void* memory, size_t bytes);
  void Pause(Connection* connection, PauseReason reason);
  // True when no reason is left.
  bool Resume(Connection* connection, PauseReason reason);
  // Acts on `pauses`; the reasons alone stop nothing until the next readiness.
  void UpdatePoll(Connection* connection) override;
  // The client has ended its direction: nothing more is read.
  void OnPeerEnded(Connection* connection);
  // It may have been read in part: what TLS has opened already is read without a readiness.
  void CheckPending(Connection* connection);

  // -- Ends.

  // FinishAfterOutput() for a connection whose output is written by WriteNow().
  void FinishNow(Connection* connection);
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

  // -- OutputOwner.

  void OnWriteFailed(Connection* connection, int error) override { Close(connection, error); }
  void OnQueueBegun(Connection* connection) override;
  void OnOutputDone(Connection* connection) override;

  void ArmRateTimer(const Connection& connection);
  bool IsTooSlow(const Connection& connection) const;
  bool MakeWatchable(Connection* connection);
  void AddPending(Connection* connection);
  bool BeginTls(Connection* connection);
  uint32_t TakeSlot(Connection* connection);
  void FreeSlotIfDone(uint32_t slot);
  void Link(Connection* connection, LaneServer* server);
  void Unlink(Connection* connection);

  void Detach(Connection* connection, int error, bool is_told_late = false);
  void TellClosed(Connection* connection, int error, bool is_told_late = false);
  void CloseHandle(Connection* connection);
  void LookLater(Connection* connection);
  void WatchLingering(Connection* connection);
  void ReadLingering(Connection* connection);
  void CloseDescriptor(Connection* connection);
  void ArmTimer();

  uv_loop_t* loop_;
  RecordWriter* records_;
  OutputPass output_;
  std::atomic<uint32_t>* load_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;
  uv_timer_t timer_;
  uv_idle_t pending_idle_;  // Runs while there is something in pending_.
  uint64_t timer_deadline_ms_ = UINT64_MAX;
  TimerLists timers_;
  uv_timer_t rate_timer_;  // Runs while a client with a minSendRate has not taken all.
  uv_timer_t unwatched_timer_;
  std::deque<Unwatched> unwatched_;  // The one that has waited longest is the first.

  Connection* first_ = nullptr;
  size_t allocated_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::vector<Connection*> pending_;
  tls::WireBuffer wire_;
  std::vector<std::unique_ptr<Connection>> closed_;
};

}  // namespace httpsys::engine
