#pragma once
// The ends of connections and streams: at once, by a reset, or after all output.

#include "engine/connection/announcer.h"
#include "engine/connection/connection.h"
#include "engine/connection/connection_factory.h"
#include "engine/connection/connection_list.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/input_handler.h"
#include "engine/connection/lingering.h"
#include "engine/connection/output_pass.h"
#include "engine/connection/socket_watch.h"
#include "engine/connection/stream_handler.h"

namespace httpsys::engine {

// Decides when and how a connection ends, and tells whoever has to know. Thread: the lane.
class Endings {
 public:
  Endings(OutputPass* output, ConnectionTimers* timers, ConnectionList* connections,
          ConnectionFactory* factory, Announcer* announcer, Lingering* lingering)
      : output_(output),
        timers_(timers),
        connections_(connections),
        factory_(factory),
        announcer_(announcer),
        lingering_(lingering) {}
  Endings(const Endings&) = delete;
  Endings& operator=(const Endings&) = delete;

  void set_input_handler(InputHandler* handler) { handler_ = handler; }
  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // -- After all output.

  // Closes after all output a connection whose output is written by OutputPass::WriteNow().
  void FinishNow(Connection* connection);
  // After all output, shuts down the sending direction (kShutdown) or closes the connection
  // (kClose), which then lingers. A weaker action does not replace a stronger one.
  void FinishAfterOutput(Connection* connection, AfterOutput action);
  // All output has been given to the socket: does what was to follow.
  void OnOutputDone(Connection* connection);

  // Starts to look whether the output of a client that sends nothing more waits for a file: its
  // disk may not answer any more. The timer of the connection is used.
  void WatchLeft(Connection* connection);
  // The peer has ended its direction.
  static void SetPeerEnded(Connection* connection) { connection->end.peer_ended_ = true; }

  // -- At once.

  // Closes the connection or stream at once. `error`, a positive errno or 0, is told to JavaScript.
  void Close(Connection* connection, int error);
  // Closes a stream. `is_told_late` is as in CloseLingering().
  void CloseStream(Connection* stream, bool is_told_late);
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
  void Reset(Connection* connection, int error);
  // Ends the connection without closing the descriptor, which is the caller's then.
  int Release(Connection* connection);
  // Closes the connection because its socket cannot be watched, also while it lingers.
  void OnWatchFailed(Connection* connection, int error);
  // Closes every connection and stream.
  void CloseAll();

 private:
  void Detach(Connection* connection, int error, bool is_told_late = false);

  OutputPass* output_;
  ConnectionTimers* timers_;
  ConnectionList* connections_;
  ConnectionFactory* factory_;
  Announcer* announcer_;
  Lingering* lingering_;
  InputHandler* handler_ = nullptr;
  StreamHandler* streams_ = nullptr;
};

}  // namespace httpsys::engine
