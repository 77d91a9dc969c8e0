#pragma once
// Reads the sockets of a lane and hands the bytes to the protocol of each connection.

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"

namespace httpsys::engine {

// The receive windows of a lane: they limit how many unconsumed bytes of bodies and tunnels
// JavaScript gets. Each connection has limits::kReceiveWindowBytes. A connection whose JavaScript
// consumes its window at once borrows more, up to a total for the lane: bytes cost less if each
// read empties the socket. From a socket that stays full, each read makes the kernel acknowledge a
// piece and accept the client's next one, in the reader's time. Thread: the lane.
class ReceiveWindows {
 public:
  ReceiveWindows& operator=(ReceiveWindows&&) = delete;

  // Must be called when JavaScript gets bytes of body or tunnel.
  static void Use(Connection* connection, size_t bytes) {
    // Clamp: a WebSocket message may be as long as the largest number.
    const int64_t left = connection->input.window_bytes_ - static_cast<int64_t>(bytes);
    connection->input.window_bytes_ = static_cast<int32_t>(std::max<int64_t>(left, INT32_MIN));
  }
  // Must be called when another server gets the connection: its JavaScript has received nothing
  // yet.
  static void Reset(Connection* connection) {
    connection->input.window_bytes_ = Most(connection->input);
  }

  // `now_ms` of all methods is uv_now() of the loop.

  // Must be called before the socket is read.
  void BeginRead(Connection* connection) {
    // No extra window for tunnels: an echo server that gets more than its send credit waits for its
    // client, and `ws` loses waiting data when the close frame comes.
    if (connection->input.keeps_up_ && !IsTunnel(connection->phase())) Lend(connection);
  }
  // Must be called after the socket was read. If it returns true, the caller must call EndRead().
  static bool MustEndRead(const Connection& connection) {
    return connection.input.has_extra_ || (connection.watch.pauses() & kPauseWindow) != 0;
  }
  void EndRead(Connection* connection, uint64_t now_ms);
  // Called when JavaScript has consumed `bytes`. Returns true if the input waited for window and
  // may now be resumed.
  bool Give(Connection* connection, uint32_t bytes, uint64_t now_ms);
  // True if the connection has the extra window.
  static bool HasExtra(const Connection& connection) { return connection.input.has_extra_; }
  // Must be called when the connection leaves the lane.
  void OnDetached(Connection* connection);

 private:
  static constexpr int32_t Most(const InputState& input) {
    return limits::kReceiveWindowBytes + (input.has_extra_ ? limits::kReceiveExtraBytes : 0);
  }
  void Lend(Connection* connection);
  void TakeBack(InputState* input);
  void TakeBackUnused(InputState* input);

  size_t extra_left_ = limits::kReceiveExtraMax;
};

// Observer that is called whenever the bytes of one read have been handled.
class ReadObserver {
 public:
  virtual void OnRead(Connection* connection) = 0;

 protected:
  ~ReadObserver() = default;
};

// Owns the read buffer of its lane. Bytes that a protocol cannot handle yet stay with their
// connection. Thread: the lane.
class Input {
 public:
  Input(const uv_loop_t* loop, Transport* transport, const Protocols* protocols,
        ReadObserver* observer);
  Input& operator=(Input&&) = delete;

  // Reads what the socket has, at most limits::kReadsPerEvent times, and delivers it.
  void OnReadable(Connection* connection);
  // Called when the client ended its direction while the connection is not read. Ends the input if
  // no unread bytes precede the client's end, or if they wait too long for something else.
  void OnDisconnect(Connection* connection);
  // Called when the timer of the connection has fired. If the timer was for a client that has ended
  // its direction, ends the input and returns true; returns false otherwise.
  bool EndLeft(Connection* connection);
  // Delivers bytes that another process has read, or that came in frames of HTTP/2.
  void Receive(Connection* connection, std::string_view bytes);
  // Removes a reason to pause. If no reason is left, delivers the bytes that were kept back and
  // reads again.
  void Resume(Connection* connection, PauseReason reason);
  // Called when JavaScript has consumed `bytes` of body or tunnel: enlarges the receive window
  // again.
  void OnWindow(Connection* connection, uint32_t bytes);
  void OnDetached(Connection* connection) { windows_.OnDetached(connection); }
  // Pauses the input until JavaScript has freed a request segment.
  static void PauseForMemory(Connection* connection);
  // Resumes a connection or stream that has just left the MemoryQueue of this attachment.
  void ResumeWaiting(Attachment* attachment, Connection* connection) {
    Resume(connection, kPauseMemory);
    attachment->waiting().EndResume();
  }
  // All bytes of the read that is being handled, also those already handled. Empty while the bytes
  // that were kept back are handled.
  std::string_view segment() const { return segment_; }

 private:
  bool ReadOnce(Connection* connection);
  ssize_t ReadMore(Connection* connection, Protocol* protocol, std::span<char> room, size_t* most);
  void OnReadFailed(Connection* connection, int error);
  // The effect of the client's end on a connection that is not read.
  enum class AtEnd : uint8_t {
    kGoOn,  // Nothing yet: the lane finds the end by reading, or once the output is sent.
    kWait,  // The waiting request gets some time; then the input ends.
    kEnd,   // The input has ended.
  };
  static AtEnd FindAtEnd(const Connection& connection);
  void EndUnread(Connection* connection);
  void HandleKept(Connection* connection);
  size_t Handle(Connection* connection, std::string_view input);
  void HandleReceived(Connection* connection, std::string_view bytes);

  const uv_loop_t* loop_;
  Transport* transport_;
  const Protocols* protocols_;
  ReadObserver* observer_;
  // The read buffer: limits::kLargeReadBytes, most of which get no memory page unless a large read
  // needs them.
  std::unique_ptr<char[]> buffer_;
  std::string_view segment_;
  std::array<iovec, limits::kBlocksPerRead> rooms_{};  // The memory for the read in progress.
  ReceiveWindows windows_;
};

}  // namespace httpsys::engine
