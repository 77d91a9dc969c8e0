#pragma once
// What the connections of a lane send: gathered while replies are handled, written once per
// connection and pass, kept where the socket does not take it.

#include <sys/types.h>
#include <sys/uio.h>
#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/stream_handler.h"
#include "records/record_writer.h"

namespace httpsys::engine {

// The owner of the sockets.
class OutputOwner {
 public:
  // The socket takes nothing any more: the connection is to be closed. `error` is a positive errno,
  // or 0 for the end of the client.
  virtual void OnWriteFailed(Connection* connection, int error) = 0;
  // Whether the connection waits for room in its socket has changed.
  virtual void UpdatePoll(Connection* connection) = 0;
  // The socket has begun to take less than there is.
  virtual void OnQueueBegun(Connection* connection) = 0;
  // Nothing is left to be sent.
  virtual void OnOutputDone(Connection* connection) = 0;

 protected:
  ~OutputOwner() = default;
};

// Thread: the lane.
class OutputPass {
 public:
  OutputPass(uv_loop_t* loop, RecordWriter* records, LentMemory* lent, OutputOwner* owner);
  OutputPass(const OutputPass&) = delete;
  OutputPass& operator=(const OutputPass&) = delete;
  // Before the loop is closed.
  void Close();

  void set_stream_handler(StreamHandler* handler) { streams_ = handler; }

  // -- Sending. Bytes must stay valid until FlushTouched().

  // `payload_bytes` of them count for the connection's credits; JavaScript does not count framing.
  void Send(Connection* connection, std::string_view bytes, size_t payload_bytes);
  // A few bytes that are copied at once.
  void SendCopy(Connection* connection, std::string_view bytes);
  void SendBlock(Connection* connection, uint32_t block_id, std::string_view bytes);
  // Bytes that `owner` keeps: several connections may send the same. Let go of when they are sent.
  void SendShared(Connection* connection, std::shared_ptr<const void> owner, std::string_view bytes,
                  size_t payload_bytes);
  // For records without bytes that act after output: the connection takes part in FlushTouched().
  void Touch(Connection* connection);
  // One send per touched connection. Returns them in `touched` (some may be closed by now).
  void FlushTouched(std::vector<Connection*>* touched);
  bool has_touched() const { return !touched_.empty(); }
  void Flush(Connection* connection);
  // Gives bytes to the socket, and keeps what it does not take. For connections that send nothing
  // by the methods above. False when it was closed by an error.
  bool WriteNow(Connection* connection, std::string_view bytes);
  // Moves up to `bytes` of a stream's output behind `to`.
  void TakeOutput(Connection* stream, size_t bytes, std::string* to);
  // Bytes of records that need not be sent count as sent.
  void Credit(Connection* stream, size_t bytes) { AddCredit(stream, bytes); }
  void ReturnBlock(uint32_t block_id) { ReportBlocks({block_id}, 0); }
  // What a stream has to send.
  size_t OutputBytes(const Connection* stream) const;
  // Bytes that a connection has accepted for sending and its socket has not taken: those that wait,
  // sealed ones included, and the payload of the current reply pass.
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
  // Pieces of output that wait for FlushTouched().
  size_t pass_pieces() const { return pieces_.size() - 1; }
  // Connections whose output the kernel has not taken.
  size_t pending_outputs() const { return pending_outputs_; }

  // Output that the session of TLS has made by itself; the connection may be closed by it.
  void FlushSealed(Connection* connection);

  // The socket has room again.
  void OnWritable(Connection* connection);
  // Even an empty queue says that there is something to send: what TLS has sealed.
  void BeginQueue(Connection* connection);
  // Marks the end of what waits for the socket. Only if something does.
  static void MarkQueue(Connection* connection) { connection->output.queue_->Mark(); }
  // How fast the client takes what waits for the socket. Only if something does.
  static SendRateWatch* RateOf(Connection* connection) {
    return &connection->output.queue_->rate();
  }
  // Payload that was sent for another server.
  static void ForgetCredit(Connection* connection) { connection->output.credit_bytes_ = 0; }
  // Forgets what is not sent.
  void Drop(Connection* connection);

 private:
  struct Piece {
    const uint8_t* data = nullptr;  // nullptr: `copy`.
    size_t bytes = 0;
    uint32_t next = 0;
    uint32_t block_id = OutputQueue::kNoBlock;
    uint32_t owner = 0;  // In owners_; 0 = none.
    char copy[12];

    std::string_view view() const {
      return {data == nullptr ? copy : reinterpret_cast<const char*>(data), bytes};
    }
  };

  Piece* AddPiece(Connection* connection, size_t bytes, size_t payload_bytes);

  bool SendPieces(Connection* connection, uint32_t* piece, size_t* offset);
  // As sendmsg(2) without blocking.
  // `is_end`: nothing follows but the end.
  ssize_t Write(Connection* connection, iovec* vectors, int count, bool is_end = false);
  ssize_t SendOnce(Connection* connection, uint32_t piece, size_t offset, size_t* attempted);
  void Advance(size_t bytes, uint32_t* piece, size_t* offset);
  void EnqueuePieces(Connection* connection, uint32_t piece, size_t offset);
  void KeepStreamOutput(Connection* stream);
  void WriteQueue(Connection* connection);
  void TrimSoonAfterMany();
  static bool IsCreditDue(const Connection& connection);
  void AddCredit(Connection* connection, size_t bytes);
  void ReportBlocks(const std::vector<uint32_t>& blocks, int error);

  RecordWriter* records_;
  LentMemory* lent_;
  OutputOwner* owner_;
  StreamHandler* streams_ = nullptr;
  uv_timer_t trim_timer_;
  size_t dropped_outputs_ = 0;  // Since trim_timer_ was started.
  size_t pending_outputs_ = 0;
  std::vector<Piece> pieces_;  // Of the current reply pass; index 0 is unused.
  std::vector<std::shared_ptr<const void>> owners_;  // Of these pieces; index 0 is unused.
  std::vector<Connection*> touched_;
  std::vector<char> gathered_;
  std::vector<uint32_t> blocks_;  // Scratch.
};

}  // namespace httpsys::engine
