#pragma once
// Opens, announces and closes the connections of a lane.

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

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/output_pass.h"
#include "engine/connection/slow_clients.h"
#include "engine/connection/socket_watch.h"
#include "engine/connection/stream_handler.h"

namespace httpsys::engine {

// What Transport asks of the lane, for each connection. Thread: the lane.
class InputHandler {
 public:
  // There may be bytes to read.
  virtual void OnReadable(Connection* connection) = 0;
  // The peer ended its direction while kPausePipeline was the only reason not to read.
  virtual void OnDisconnect(Connection* connection) = 0;
  // The connection's timer has expired.
  virtual void OnTimeout(Connection* connection) = 0;
  // The client reads more slowly than the server's minSendRate: the connection must be ended.
  virtual void OnTooSlow(Connection* connection) = 0;
  // All output has left, and the sending direction is about to be shut down.
  virtual void OnOutputEnding(Connection* connection) = 0;
  // JavaScript is about to hear of the connection, for the first time or as one of another server.
  virtual void OnAnnounced(Connection* connection) = 0;
  // The connection is no longer open.
  virtual void OnDetached(Connection* connection) = 0;

 protected:
  ~InputHandler() = default;
};

// Owns the connections and streams of a lane. Thread: the lane. A Connection stays valid until the
// loop iteration after the one that closed it, so a caller may look at its `life` after any call.
class Transport final : private OutputOwner, private WatchHandler {
 public:
  // `load` counts the open connections, for the thread that distributes new ones. `loop->data` is
  // used by SocketWatch.
  Transport(uv_loop_t* loop, std::atomic<uint32_t>* load);
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

  // Opens a connection on a descriptor, which it takes over. `origin` is set for one end of a
  // relay. Announce() tells JavaScript of the connection, and nothing is read before Watch().
  // Returns nullptr if there is no memory for TLS; the descriptor is closed then.
  Connection* Open(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin = nullptr);
  // Begins to watch the connection, after the bytes that came with it have been handled.
  void Watch(Connection* connection);
  // Opens a stream of `parent`. JavaScript hears of it with its request, after Announce().
  Connection* OpenStream(Connection* parent, LaneServer* server,
                         std::unique_ptr<Http2Stream> stream);
  // Gives the connection a slot and tells JavaScript of it, with the flags of kOpen. Does nothing
  // if it is announced already.
  void Announce(Connection* connection, uint32_t flags);
  // The same for a connection that is announced already: JavaScript sees a new connection and the
  // end of the old one.
  void AnnounceAnew(Connection* connection, uint32_t flags);
  // Gives the connection to a server and announces it. If it had another server, JavaScript sees a
  // new connection and the end of the old one.
  void Assign(Connection* connection, LaneServer* server);
  // Ends the connection without closing the descriptor, which is the caller's then.
  int Release(Connection* connection);
  // Counts a connection that is about to be opened and was not counted when it was accepted.
  void CountLoad() { load_->fetch_add(1, std::memory_order_relaxed); }
  // Calls `function` with every connection and stream. It may close the one that it is called with.
  template <typename Function>
  void ForEach(Function function) {
    for (Connection *at = first_, *next = nullptr; at != nullptr; at = next) {
      next = at->next;
      function(at);
    }
  }

  // -- Reading.

  // Reads like recv(2) without blocking, through TLS where the connection has it: returns -1 and
  // sets errno, or 0 at the end of the peer's data.
  ssize_t Receive(Connection* connection, void* memory, size_t bytes);
  // Records that the client has ended its direction: nothing more is read.
  void OnPeerEnded(Connection* connection);

  // -- Ends.

  // Closes after all output a connection whose output is written by OutputPass::WriteNow().
  void FinishNow(Connection* connection);
  // After all output, shuts down the sending direction (kShutdown) or closes the connection
  // (kClose), which then lingers. A weaker action does not replace a stronger one.
  void FinishAfterOutput(Connection* connection, AfterOutput action);
  // Closes the connection or stream at once. `error`, a positive errno or 0, is told to JavaScript.
  void Close(Connection* connection, int error);
  // Closes a stream. `is_told_late` is as in CloseLingering().
  void CloseStream(Connection* stream, bool is_told_late);
  // Gives a connection or a stream to another server, before JavaScript hears of it.
  static void SetServer(Connection* connection, LaneServer* server);
  // Gives a TLS connection to another server before its first byte is read. The new server makes
  // the handshake. Returns false if out of memory.
  bool RestartTls(Connection* connection, LaneServer* server);
  // Ends the connection at once, but reads and discards what the peer still sends for a while
  // (limits::kLingerMs), so that the peer can read the last reply. `is_told_late`: JavaScript may
  // hear of the end late, because the application has ended the connection and does not wait for
  // it.
  void CloseLingering(Connection* connection, bool is_told_late = false);
  // Returns true if an undecided upgrade has received as many bytes as the lane keeps for it.
  static bool IsUndecidedFull(const Connection& connection);
  // Ends such an upgrade if the sending direction is shut down: nobody will read the bytes, and the
  // client's end behind them would never be seen.
  void CloseIfRefusedUpgrade(Connection* connection);
  // Closes the connection with a TCP reset; a stream as Close() does.
  void Reset(Connection* connection, int error = 0);
  // Frees the closed connections that libuv does not hold. Nobody may use them any more.
  void FreeClosed();
  // Closes every connection and the timers. Called when the lane stops: what is still recorded for
  // JavaScript is not read.
  void Shutdown();
  // True if no connection is allocated.
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

  SocketWatch watch_;
  OutputPass output_;
  ConnectionTimers timers_;
  SlowClients slow_clients_;
  std::atomic<uint32_t>* load_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;

  Connection* first_ = nullptr;
  size_t allocated_ = 0;
  tls::WireBuffer wire_;
  std::vector<std::unique_ptr<Connection>> closed_;
};

}  // namespace httpsys::engine
