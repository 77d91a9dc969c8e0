#pragma once
// The output of a lane's connections. Output is gathered while replies are handled, written once
// per connection and pass, and queued if the socket does not take it.

#include <sys/types.h>
#include <sys/uio.h>
#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/output_queue.h"
#include "engine/connection/pass_pieces.h"
#include "engine/connection/protocol.h"
#include "engine/connection/throttle.h"

namespace httpsys::engine {

// Events of output that OutputPass passes to the owner of the sockets. Thread: the lane.
class OutputOwner {
 public:
  // Called when a write has failed: must close the connection. `error` is a positive errno, or 0 if
  // the client has ended the connection.
  virtual void OnWriteFailed(Connection* connection, int error) = 0;
  // Called when the connection has begun, or has ceased, to wait for room in its socket.
  virtual void UpdatePoll(Connection* connection) = 0;
  // Called when the socket did not take all output: the connection now has an OutputQueue.
  virtual void OnQueueBegun(Connection* connection) = 0;
  // Called when all output has been given to the socket.
  virtual void OnOutputDone(Connection* connection) = 0;

 protected:
  ~OutputOwner() = default;
};

// Sends for all connections and streams of one lane. Thread: the lane.
class OutputPass {
 public:
  // `ahead` and `post` are as in FileOutput.
  OutputPass(uv_loop_t* loop, OutputOwner* owner, files::ReadAhead* ahead, FileOutput::Post post);
  OutputPass& operator=(OutputPass&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // The bandwidth limits of prefixes, to which the output keeps.
  Throttle* throttle() { return &throttle_; }

  // -- Sending. The bytes passed to Send() and SendBlock() must stay valid until FlushTouched().

  // `payload_bytes` is how many of the bytes count for credits: JavaScript does not count framing.
  // Bytes that the socket does not take are copied, or kept by `lender`.
  void Send(Connection* connection, std::string_view bytes, size_t payload_bytes,
            Lender* lender = nullptr);
  static constexpr size_t kCopyBytesMax = sizeof(PassPieces::Piece::copy);
  // Sends a copy of at most kCopyBytesMax bytes.
  void SendCopy(Connection* connection, std::string_view bytes);
  // Sends a block that JavaScript has lent. It is returned, with a kBlockDone record, once it is
  // sent or dropped.
  void SendBlock(Connection* connection, uint32_t block_id, std::string_view bytes);
  // Sends a part of a file that is not empty: a short part at once, a longer one piece by piece
  // when the socket has room. Afterwards, `block_id` is returned as in SendBlock(), unless it is
  // OutputQueue::kNoBlock. An error of the file ends the connection or stream.
  void SendFile(Connection* connection, uint32_t block_id,
                std::shared_ptr<const files::FilePart> part);
  // Sends bytes that `owner` keeps alive; several connections may share them. `owner` is released
  // when the bytes have been sent.
  void SendShared(Connection* connection, std::shared_ptr<const void> owner, std::string_view bytes,
                  size_t payload_bytes);
  // Includes the connection in the next FlushTouched(), even without bytes to send.
  void Touch(Connection* connection);
  // Writes the output of every touched connection, as a rule with one system call each. Fills
  // `touched` with these connections, of which some may have been closed.
  void FlushTouched(std::vector<Connection*>* touched);
  bool has_touched() const { return !touched_.empty(); }
  // Writes the connection's output of the current pass. May close the connection.
  void Flush(Connection* connection);
  // Sends bytes without payload at once. Does the same as Send() and Flush(), in fewer steps if
  // there is no other output and the socket takes all. May close the connection.
  void SendNow(Connection* connection, std::string_view bytes);
  // Writes bytes at once and queues those that the socket does not take. Only for HTTP/2
  // connections, which do not use Send() and its variants. Returns false if the connection was
  // closed by an error.
  bool WriteNow(Connection* connection, std::string_view bytes);
  // Returns how many bytes of a stream's output TakeOutput() may take now, at most `want`, which
  // must be above 0 and at most OutputBytes(). 0 = the output is held, and
  // StreamHandler::OnReleased() will be called; negative = an errno of a file, whose block was
  // returned.
  ssize_t ReadyBytes(Connection* stream, size_t want);
  // Moves `bytes` of a stream's output, at most ReadyBytes(), to the end of `to`. If a file has
  // fewer bytes, returns its block and returns false.
  bool TakeOutput(Connection* stream, size_t bytes, std::string* to);
  // Counts `bytes` of reply records as sent: HTTP/2 has replaced them by its own framing.
  void Credit(Connection* stream, size_t bytes) { AddCredit(stream, bytes); }
  // Returns the number of unsent bytes of a stream, from this pass and earlier ones.
  size_t OutputBytes(const Connection* stream) const;
  // The bytes that the connection has accepted and its socket has not taken: queued bytes, bytes
  // sealed by TLS, and the payload of the current pass.
  static size_t UnsentBytes(const Connection& connection) {
    size_t bytes = connection.output.pass_payload_bytes_;
    if (connection.output.queue_ != nullptr) {
      bytes += connection.output.queue_->bytes();
      if (connection.tls != nullptr) bytes += connection.tls->unsent_bytes();
    }
    return bytes;
  }
  // True while the head of the next request has to wait for the client to read.
  static bool IsBehind(const Connection& connection) {
    return UnsentBytes(connection) > limits::kUnsentBytesMax;
  }
  // True if the connection keeps more output than JavaScript's credit ever allows. A reply that
  // adds output must then close it.
  static bool IsBeyondCredit(const Connection& connection) {
    const OutputQueue* queue = connection.output.queue();
    return queue != nullptr && queue->kept_bytes() > limits::kUnsentRepliesMax;
  }
  // The number of pieces that wait for FlushTouched().
  size_t pass_pieces() const { return pieces_.count(); }
  // The number of connections and streams whose output waits in a queue.
  size_t pending_outputs() const { return pending_outputs_; }

  // Writes bytes that the TLS session has produced itself (handshakes, alerts). May close the
  // connection.
  void FlushSealed(Connection* connection);

  // Called when the socket has room again.
  void OnWritable(Connection* connection);
  // Makes the connection wait for room in its socket. The queue may be empty: then only bytes
  // sealed by TLS wait.
  void BeginQueue(Connection* connection);
  // Marks the end of the queued output. The connection must have a queue.
  static void MarkQueue(Connection* connection) { connection->output.queue_->Mark(); }
  // Returns the measurement of how fast the client takes the queued output. The connection must
  // have a queue.
  static SendRateWatch* RateOf(Connection* connection) {
    return &connection->output.queue_->rate();
  }
  // Discards the count of sent payload that was not reported to JavaScript, because another server
  // gets the connection.
  static void ForgetCredit(Connection* connection) { connection->output.credit_bytes_ = 0; }
  // Drops all output that has not been sent, and returns its blocks with ECANCELED.
  void Drop(Connection* connection);

 private:
  PassPieces::Piece* AddPiece(Connection* connection, size_t bytes, size_t payload_bytes);

  bool SendPieces(Connection* connection, uint32_t* piece, size_t* offset);
  ssize_t SendOnce(Connection* connection, uint32_t piece, size_t offset, size_t* attempted);
  void EnqueuePieces(Connection* connection, uint32_t piece, size_t offset);
  void KeepStreamOutput(Connection* stream);
  void QueueStreamOutput(Connection* stream);
  bool TakeFromFile(Connection* stream, size_t bytes, std::string* to);
  void MakeQueue(Connection* connection);
  ssize_t WriteSome(Connection* connection, size_t most);
  ssize_t WriteFile(Connection* connection, const OutputQueue::FilePiece& piece, size_t most);
  void ReturnFile(Connection* connection, int error);
  void WriteQueue(Connection* connection);
  // Called when the output of a connection or stream is no longer held.
  void OnReleased(Connection* connection);
  void AddCredit(Connection* connection, size_t bytes);
  // Returns the blocks in `blocks_` to the JavaScript environment of this connection.
  void ReportBlocks(const Connection* connection, int error);

  const uv_loop_t* loop_;
  OutputOwner* owner_;
  Throttle throttle_;
  FileOutput files_;
  StreamHandler* streams_ = nullptr;
  HeapTrim trim_;
  size_t pending_outputs_ = 0;
  PassPieces pieces_;
  std::vector<Connection*> touched_;
  // Scratch memory: small pieces that are written as one.
  std::vector<char> gathered_;
  std::vector<uint32_t> blocks_;  // Scratch memory: the blocks to return.
};

}  // namespace httpsys::engine
