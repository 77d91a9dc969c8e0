#pragma once
// The ends of connections and streams: at once, by a reset, or after all output.

#include "engine/connection/announcer.h"
#include "engine/connection/connection.h"
#include "engine/connection/connection_list.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/output_pass.h"
#include "engine/connection/protocol.h"
#include "engine/connection/socket_watch.h"

namespace httpsys::engine {

// Decides when and how a connection ends, and notifies JavaScript and the protocols. Thread: the
// lane.
class Endings {
 public:
  Endings(OutputPass* output, SocketWatch* watch, ConnectionTimers* timers,
          ConnectionList* connections, Announcer* announcer)
      : output_(output),
        watch_(watch),
        timers_(timers),
        connections_(connections),
        announcer_(announcer) {}
  Endings& operator=(Endings&&) = delete;

  void set_input_handler(InputHandler* handler) { handler_ = handler; }
  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // -- After all output.

  // Closes the connection after all output. Only for output of OutputPass::WriteNow().
  void FinishNow(Connection* connection);
  // After all output, shuts down the sending direction (kShutdown) or closes the connection with
  // CloseLingering() (kClose). A weaker action does not replace a stronger one.
  void FinishAfterOutput(Connection* connection, AfterOutput action);
  // Called when all output has been given to the socket: does the action of FinishAfterOutput().
  void OnOutputDone(Connection* connection);

  // If the client sends nothing more, checks from now on whether the output waits too long for a
  // file, whose disk may have failed. Uses the timer of the connection.
  void WatchLeft(Connection* connection);
  // Records that the client has ended its sending direction.
  static void SetPeerEnded(Connection* connection) { connection->end.peer_ended_ = true; }

  // -- At once.

  // Closes the connection or stream at once. JavaScript gets `error`, a positive errno or 0.
  void Close(Connection* connection, int error);
  // Closes a stream. `is_told_late` is as in CloseLingering().
  void CloseStream(Connection* stream, bool is_told_late);
  // Ends the connection at once, but reads and discards input for a while (limits::kLingerMs), so
  // that the client can read the last reply. `is_told_late`: the record of the end need not wake
  // JavaScript, because the application has ended the connection itself.
  void CloseLingering(Connection* connection, bool is_told_late = false);
  // Returns true if the connection's upgrade is undecided (kUndecided), and the bytes that the lane
  // keeps for it have reached their limit.
  static bool IsUndecidedFull(const Connection& connection);
  // Ends the connection if IsUndecidedFull() and the sending direction is shut down: the
  // application has refused the upgrade, so the lane would never read up to the client's end.
  void CloseIfRefusedUpgrade(Connection* connection);
  // Closes a connection with a TCP reset. Closes a stream as Close() does.
  void Reset(Connection* connection, int error);
  // Ends the connection without closing its descriptor. Returns the descriptor, which the caller
  // then owns.
  int Release(Connection* connection);
  // Closes an open or lingering connection because its socket cannot be watched.
  void OnWatchFailed(Connection* connection, int error);
  // Closes every connection and stream.
  void CloseAll();

  // -- Lingering, the orderly end of a connection: the client can read the last reply although it
  // still sends. Closing a socket with unread input resets the connection, and the client may lose
  // bytes that it has not read. So the sending direction is shut down, and input is discarded until
  // the client has ended, too, or limits::kLingerMs are over.

  // Called when there may be input of a lingering connection to discard.
  void OnLingerReadable(Connection* connection);
  // Called when the time is over for which a lingering client was left alone.
  void OnLingerDue(Connection* connection);

 private:
  void Detach(Connection* connection, int error, bool is_told_late = false);
  void BeginLingering(Connection* connection);

  OutputPass* output_;
  SocketWatch* watch_;
  ConnectionTimers* timers_;
  ConnectionList* connections_;
  Announcer* announcer_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;
};

}  // namespace httpsys::engine
