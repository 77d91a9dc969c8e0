#pragma once
// When the sockets of a lane are read and written: readiness, and the reasons to leave it alone.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/stream_handler.h"

namespace httpsys::engine {

// What hears of readiness. A connection may be closed by any call.
class WatchHandler {
 public:
  // The connection is open and not paused, or lingering.
  virtual void OnReadable(Connection* connection) = 0;
  virtual void OnWritable(Connection* connection) = 0;
  // The peer ended its direction while only kPausePipeline keeps the connection from being read.
  virtual void OnDisconnect(Connection* connection) = 0;
  // The connection cannot be watched any more. `error` is a positive errno.
  virtual void OnWatchFailed(Connection* connection, int error) = 0;
  // The connection was left alone as a lingering one, and its time is over.
  virtual void OnLingerDue(Connection* connection) = 0;
  // libuv has let go of the connection: its memory can be freed.
  virtual void OnUnwatched(Connection* connection) = 0;

 protected:
  ~WatchHandler() = default;
};

// Thread: the lane. The data of `loop` are its own.
class SocketWatch {
 public:
  SocketWatch(uv_loop_t* loop, WatchHandler* handler);
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;
  // Before the loop is closed.
  void Close();

  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // The reasons alone stop nothing until the next readiness.
  static void Pause(Connection* connection, PauseReason reason) {
    connection->watch.pauses_ = static_cast<uint8_t>(connection->watch.pauses_ | reason);
  }
  // True when no reason is left.
  static bool Resume(Connection* connection, PauseReason reason) {
    connection->watch.pauses_ = static_cast<uint8_t>(connection->watch.pauses_ & ~reason);
    return connection->watch.pauses_ == 0;
  }
  // Forgets every reason but `reason`; 0 = all.
  static void PauseOnly(Connection* connection, uint8_t reason) {
    connection->watch.pauses_ = reason;
  }
  // Acts on the reasons to pause, and on output that waits for the socket.
  void Update(Connection* connection);
  // The connection may have been read in part: what TLS has opened already is read without a
  // readiness.
  void CheckPending(Connection* connection);
  // Looks at a connection that sends nothing more in limits::kUnwatchedMs: at a lingering one by
  // OnLingerDue(), at an open one by Update().
  void LeaveAlone(Connection* connection, bool is_lingering);
  // Once per turn, before the poll: connections that were left alone for long enough.
  void LookAtOverdue();
  // Forgets the connection. True if OnUnwatched() comes for it later.
  bool End(Connection* connection);

 private:
  struct LeftAlone {
    Connection* connection;
    uint64_t since_ms;
    bool is_lingering;
  };

  static void OnPoll(uv_poll_t* poll, int status, int events);
  static void OnPollClosed(uv_handle_t* handle);
  static void OnPending(uv_idle_t* idle);
  bool MakeWatchable(Connection* connection);
  void AddPending(Connection* connection);

  uv_loop_t* loop_;
  WatchHandler* handler_;
  StreamHandler* streams_ = nullptr;
  uv_idle_t pending_idle_;  // Runs while there is something in pending_.
  std::vector<Connection*> pending_;
  uv_timer_t alone_timer_;
  std::deque<LeftAlone> left_alone_;  // The one that has waited longest is the first.
};

}  // namespace httpsys::engine
