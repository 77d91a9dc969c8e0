#pragma once
// Reads the sockets of a lane and hands the bytes to the protocol of each connection.

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"
#include "engine/connection/receive_windows.h"
#include "engine/connection/transport.h"

namespace httpsys::engine {

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
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Reads what the socket has, at most limits::kReadsPerEvent times, and delivers it.
  void OnReadable(Connection* connection);
  // Called when the client ended its direction while the connection is not read. Treats this as the
  // end of the input if no bytes are before it, or if the bytes before it wait too long for
  // something else.
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
  // Resumes the input after this pass if its only reasons to pause are output and earlier answers.
  static void ResumeSoon(Connection* connection) { connection->input.is_resume_due_ = true; }
  // If ResumeSoon() was called, clears its mark and returns true; returns false otherwise.
  static bool TakeResumeDue(Connection* connection) {
    return std::exchange(connection->input.is_resume_due_, false);
  }

  // -- For ReceiveQueue.

  static void SetWaitsForBlocks(Connection* connection, bool waits) {
    connection->input.waits_for_blocks_ = waits;
  }
  static void GiveReceiveTurn(Connection* connection) {
    connection->input.has_receive_turn_ = true;
  }
  // If GiveReceiveTurn() was called, clears its mark and returns true; returns false otherwise.
  static bool TakeReceiveTurn(Connection* connection) {
    const bool had = connection->input.has_receive_turn_;
    connection->input.has_receive_turn_ = false;
    return had;
  }

  // -- For MemoryQueue.

  static void SetWaitsForSegment(Connection* connection, bool waits) {
    connection->input.waits_for_segment_ = waits;
  }

  // All bytes of the read that is being handled, also those already handled. Empty while the bytes
  // that were kept back are handled.
  std::string_view segment() const { return segment_; }

  // -- Bytes that are kept back.

  // Appends bytes to the kept bytes.
  static void Keep(Connection* connection, std::string_view bytes) {
    MakeKept(connection)->append(bytes);
  }
  // Replaces the kept bytes.
  static void KeepOnly(Connection* connection, std::string bytes) {
    connection->input.partial_ = std::make_unique<std::string>(std::move(bytes));
  }
  // Inserts bytes before the kept bytes.
  static void KeepBefore(Connection* connection, std::string_view bytes) {
    MakeKept(connection)->insert(0, bytes);
  }
  // Returns the kept bytes, or nullptr, and keeps them no longer.
  static std::unique_ptr<std::string> TakeKept(Connection* connection) {
    return std::move(connection->input.partial_);
  }
  static void DropKept(Connection* connection) { connection->input.partial_.reset(); }
  // Drops the first `bytes` of the kept bytes, because they were handled.
  static void DropKept(Connection* connection, size_t bytes);
  // Sets how many of the kept or unread bytes JavaScript has already received or the lane has
  // peeked at.
  static void SetGiven(Connection* connection, size_t bytes) {
    connection->input.given_bytes_ = static_cast<uint32_t>(bytes);
  }

 private:
  static std::string* MakeKept(Connection* connection) {
    std::unique_ptr<std::string>& kept = connection->input.partial_;
    if (kept == nullptr) kept = std::make_unique<std::string>();
    return kept.get();
  }
  bool ReadOnce(Connection* connection);
  ssize_t ReadMore(Connection* connection, Protocol* protocol, std::span<char> room, size_t* most);
  void OnReadFailed(Connection* connection, int error);
  // The consequence of the client's end while the connection is not read.
  enum class AtEnd : uint8_t {
    kGoOn,  // None: the end is found by reading, or follows from the output.
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
