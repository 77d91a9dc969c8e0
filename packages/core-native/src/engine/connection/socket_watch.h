#pragma once
// Decides when the sockets of a lane are read and written: watches readiness and keeps the reasons
// to pause.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"

namespace httpsys::engine {

// Receives the readiness of sockets. Every call may close the connection. Thread: the lane.
class WatchHandler {
 public:
  // Called when there may be bytes to read. The connection is open and not paused, or it is
  // lingering.
  virtual void OnReadable(Connection* connection) = 0;
  // Called when the socket has room again for the queued output.
  virtual void OnWritable(Connection* connection) = 0;
  // Called when the client ended its direction while the connection is paused. For a connection
  // with kPauseOver only while its output is held. A reset causes OnWatchFailed() instead.
  virtual void OnDisconnect(Connection* connection) = 0;
  // Called when the connection cannot be watched any more. `error` is a positive errno.
  virtual void OnWatchFailed(Connection* connection, int error) = 0;
  // Called when the time is over for which LeaveAlone() left a lingering connection alone.
  virtual void OnLingerDue(Connection* connection) = 0;
  // Called when libuv has closed the connection's watcher: its memory can be freed.
  virtual void OnUnwatched(Connection* connection) = 0;

 protected:
  ~WatchHandler() = default;
};

// Owns the libuv watchers of a lane's connections. It uses `loop->data`. Thread: the lane.
class SocketWatch {
 public:
  SocketWatch(uv_loop_t* loop, WatchHandler* handler);
  SocketWatch& operator=(SocketWatch&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // Adds a reason not to read. The watcher keeps running until Update() or the next readiness.
  static void Pause(Connection* connection, PauseReason reason) {
    connection->watch.pauses_ = static_cast<uint8_t>(connection->watch.pauses_ | reason);
  }
  // Removes a reason not to read. Returns true if no reason is left.
  static bool Resume(Connection* connection, PauseReason reason) {
    WatchState& watch = connection->watch;
    watch.pauses_ = static_cast<uint8_t>(watch.pauses_ & ~reason);
    if (watch.pauses_ != 0) return false;
    // Reading finds the client's end; OnDisconnect() is called again if reading pauses before that.
    watch.is_disconnect_told_ = false;
    return true;
  }
  // Replaces all reasons by `reason`; 0 = none.
  static void PauseOnly(Connection* connection, uint8_t reason) {
    connection->watch.pauses_ = reason;
  }
  // Records whether the next request waits for a disk.
  static void SetWaitsForDisk(Connection* connection, bool waits) {
    connection->watch.waits_for_disk_ = waits;
  }
  // Starts or stops the watcher according to the reasons to pause and to output that waits for the
  // socket.
  void Update(Connection* connection);
  // Schedules another OnReadable() if TLS holds decrypted bytes, because the kernel does not report
  // them.
  void CheckPending(Connection* connection);
  // Stops watching a client that sends nothing more, and looks at it after limits::kUnwatchedMs:
  // with OnLingerDue() if `is_lingering`, otherwise with Update().
  void LeaveAlone(Connection* connection, bool is_lingering);
  // Returns true if descriptors were low lately. The lane then wakes for clients that end, to free
  // their descriptors.
  bool AreDescriptorsLow() const { return uv_now(loop_) < low_until_ms_; }
  // Must be called with the descriptor of each new connection. If few descriptors are left, the
  // lane looks at all connections that were left alone before it waits again.
  void NoteDescriptor(int fd) {
    if (fd >= first_spared_) NoteSpared(fd);
  }
  // Looks at the connections that LeaveAlone() left alone for long enough. Called once per turn of
  // the loop, before the poll.
  void LookAtOverdue();
  // Stops watching the connection permanently. Returns true if OnUnwatched() will be called for it;
  // returns false if its memory can be freed at once.
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
  void NoteSpared(int fd);

  uv_loop_t* loop_;
  WatchHandler* handler_;
  StreamHandler* streams_ = nullptr;
  uv_idle_t pending_idle_;  // Runs while pending_ is not empty.
  // Connections with decrypted bytes, or that cannot be watched; handled in the next turn of the
  // loop.
  std::vector<Connection*> pending_;
  uv_timer_t alone_timer_;
  std::deque<LeftAlone> left_alone_;  // In the order of since_ms.
  int first_spared_;                  // The last result of FirstSparedDescriptor().
  uint64_t low_until_ms_ = 0;
};

}  // namespace httpsys::engine
