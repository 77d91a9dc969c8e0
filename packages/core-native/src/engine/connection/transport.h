#pragma once
// Opens, reads and watches the connections of a lane. Classes with files of their own make,
// announce and end them.

#include <sys/types.h>
#include <sys/uio.h>
#include <uv.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/connection/announcer.h"
#include "engine/connection/connection.h"
#include "engine/connection/connection_list.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/endings.h"
#include "engine/connection/output_pass.h"
#include "engine/connection/protocol.h"
#include "engine/connection/socket_watch.h"

namespace httpsys::engine {

// The front of a lane's connections and streams. Thread: the lane. A Connection stays valid until
// the loop iteration after its close, so a caller may read its `life` after any call.
class Transport final : private OutputOwner, private WatchHandler {
 public:
  // `load` counts the open connections, for the thread that distributes new ones. `loop->data` is
  // used by SocketWatch.
  // `ahead` and `post` are as in FileOutput.
  Transport(uv_loop_t* loop, std::atomic<uint32_t>* load, files::ReadAhead* ahead,
            FileOutput::Post post);
  Transport& operator=(Transport&&) = delete;

  void set_input_handler(InputHandler* handler);
  void set_stream_handler(StreamHandler* handler);
  OutputPass* output() { return &output_; }
  SocketWatch* watch() { return &watch_; }

  // -- Opening.

  // Opens a connection on a descriptor, which it takes over. `origin` is set for one end of a
  // relay. JavaScript learns of the connection by Announce(), and nothing is read before Watch().
  // If there is no memory for TLS, closes the descriptor and returns nullptr.
  Connection* Open(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin = nullptr);
  // Begins to watch the connection. Must be called after the bytes that came with it have been
  // handled.
  void Watch(Connection* connection);
  // Opens a stream of `parent`. JavaScript learns of the stream by its request, after Announce().
  Connection* OpenStream(Connection* parent, LaneServer* server,
                         std::unique_ptr<Http2Stream> stream) {
    return connections_.MakeStream(parent, server, std::move(stream));
  }
  // Gives a TLS connection, of which no byte has been read, to another server, which makes the
  // handshake. Returns false if out of memory.
  bool RestartTls(Connection* connection, LaneServer* server);
  // Forwarded to ConnectionList.
  void CountLoad() { connections_.CountLoad(); }
  template <typename Function>
  void ForEach(Function function) {
    connections_.ForEach(function);
  }
  // Forwarded to Announcer.
  void Announce(Connection* connection, uint32_t flags) { announcer_.Announce(connection, flags); }
  void AnnounceAnew(Connection* connection, uint32_t flags) {
    announcer_.AnnounceAnew(connection, flags);
  }
  // Reports to JavaScript the end of a connection or stream that in fact continues without
  // JavaScript.
  void Withdraw(Connection* connection) { announcer_.TellClosed(connection, 0, true); }
  void Assign(Connection* connection, LaneServer* server) { announcer_.Assign(connection, server); }

  // -- Reading.

  // Reads like recv(2) without blocking, through TLS if the connection has it. Returns -1 and sets
  // errno on failure, 0 at the end of the client's data.
  ssize_t Receive(Connection* connection, void* memory, size_t bytes);
  // Like Receive(), into several pieces of memory, which are filled in order. For connections
  // without TLS.
  static ssize_t ReceivePlain(const Connection* connection, std::span<iovec> rooms);
  // Reads the connection without waiting for the next poll, unless it is paused. Does nothing for a
  // stream.
  void ReadNow(Connection* connection);
  // Records that the client has ended its direction: nothing more is read.
  void OnPeerEnded(Connection* connection);
  void StartIdleTimer(Connection* connection, uint64_t timeout_ms) {
    timers_.Start(connection, timeout_ms);
  }
  void StopTimer(Connection* connection) { timers_.Stop(connection); }
  // Writes a record that says for how long the connection or stream has been silent. `flags`:
  // kFlagUnasked, or 0.
  void TellSilence(const Connection& connection, uint32_t flags) const;

  // -- Ends. See Endings.

  void FinishNow(Connection* connection) { endings_.FinishNow(connection); }
  void FinishAfterOutput(Connection* connection, AfterOutput action) {
    endings_.FinishAfterOutput(connection, action);
  }
  void Close(Connection* connection, int error) { endings_.Close(connection, error); }
  void WatchLeft(Connection* connection) { endings_.WatchLeft(connection); }
  void CloseStream(Connection* stream, bool is_told_late) {
    endings_.CloseStream(stream, is_told_late);
  }
  void CloseLingering(Connection* connection, bool is_told_late = false) {
    endings_.CloseLingering(connection, is_told_late);
  }
  void CloseIfRefusedUpgrade(Connection* connection) { endings_.CloseIfRefusedUpgrade(connection); }
  void Reset(Connection* connection, int error = 0) { endings_.Reset(connection, error); }
  int Release(Connection* connection) { return endings_.Release(connection); }
  // Frees the closed connections that libuv does not hold. They must no longer be in use.
  void FreeClosed() { connections_.FreeEnded(); }
  // Closes every connection and the timers. Called when the lane stops: JavaScript does not read
  // the records that this writes.
  void Shutdown();

 private:
  // -- OutputOwner.

  void OnWriteFailed(Connection* connection, int error) override { Close(connection, error); }
  void UpdatePoll(Connection* connection) override { watch_.Update(connection); }
  void OnQueueBegun(Connection* connection) override;
  void OnOutputDone(Connection* connection) override { endings_.OnOutputDone(connection); }

  // -- WatchHandler.

  void OnReadable(Connection* connection) override;
  void OnWritable(Connection* connection) override { output_.OnWritable(connection); }
  void OnDisconnect(Connection* connection) override { handler_->OnDisconnect(connection); }
  void OnWatchFailed(Connection* connection, int error) override {
    endings_.OnWatchFailed(connection, error);
  }
  void OnLingerDue(Connection* connection) override { endings_.OnLingerDue(connection); }
  void OnUnwatched(Connection* connection) override { connections_.Free(connection); }

  void OnTimeout(Connection* connection);
  // Returns how much of the idle timeout is left, for a connection whose timer has expired; 0 =
  // nothing, or the timeout does not apply.
  uint64_t IdleLeftMs(const Connection& connection) const;

  SocketWatch watch_;
  OutputPass output_;
  ConnectionTimers timers_;
  ConnectionList connections_;
  SlowClients slow_clients_;
  Announcer announcer_;
  Endings endings_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;
};

}  // namespace httpsys::engine
