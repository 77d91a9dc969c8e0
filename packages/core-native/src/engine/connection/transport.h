#pragma once
// The connections of a lane: how they open, are told to JavaScript, and end.

#include <sys/types.h>
#include <sys/uio.h>
#include <uv.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/output_pass.h"
#include "engine/connection/slots.h"
#include "engine/connection/slow_clients.h"
#include "engine/connection/socket_watch.h"
#include "engine/connection/stream_handler.h"
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
class Transport final : private OutputOwner, private WatchHandler {
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
    watch_.set_stream_handler(handler);
  }
  OutputPass* output() { return &output_; }
  SocketWatch* watch() { return &watch_; }
  Slots* slots() { return &slots_; }

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
  // The client has ended its direction: nothing more is read.
  void OnPeerEnded(Connection* connection);

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
  // What was closed without libuv is forgotten here: nobody may look at it any more.
  void FreeClosed();
  // Closes everything without telling JavaScript.
  void Shutdown();
  bool is_empty() const { return allocated_ == 0; }

  void StartIdleTimer(Connection* connection, uint64_t timeout_ms) {
    timers_.Start(connection, timeout_ms);
  }
  void StopTimer(Connection* connection) { timers_.Stop(connection); }

 private:
  // -- OutputOwner.

  void OnWriteFailed(Connection* connection, int error) override { Close(connection, error); }
  void UpdatePoll(Connection* connection) override { watch_.Update(connection); }
  void OnQueueBegun(Connection* connection) override;
  void OnOutputDone(Connection* connection) override;

  // -- WatchHandler.

  void OnReadable(Connection* connection) override;
  void OnWritable(Connection* connection) override { output_.OnWritable(connection); }
  void OnDisconnect(Connection* connection) override { handler_->OnDisconnect(connection); }
  void OnWatchFailed(Connection* connection, int error) override;
  void OnLingerDue(Connection* connection) override { WatchLingering(connection); }
  void OnUnwatched(Connection* connection) override;

  void OnTimeout(Connection* connection);
  bool BeginTls(Connection* connection);
  void Link(Connection* connection, LaneServer* server);
  void Unlink(Connection* connection);

  void Detach(Connection* connection, int error, bool is_told_late = false);
  void Tell(Connection* connection, uint32_t flags);
  void TellClosed(Connection* connection, int error, bool is_told_late = false);
  void CloseHandle(Connection* connection);
  void WatchLingering(Connection* connection);
  void ReadLingering(Connection* connection);
  void CloseDescriptor(Connection* connection);

  RecordWriter* records_;
  SocketWatch watch_;
  OutputPass output_;
  ConnectionTimers timers_;
  SlowClients slow_clients_;
  Slots slots_;
  std::atomic<uint32_t>* load_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;

  Connection* first_ = nullptr;
  size_t allocated_ = 0;
  tls::WireBuffer wire_;
  std::vector<std::unique_ptr<Connection>> closed_;
};

}  // namespace httpsys::engine
