#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http2/response_text.h"
#include "win/cache_policy.h"
#include "win/kernel_queue.h"
#include "win/log_fields.h"
#include "win/opaque_channel.h"
#include "win/response_call.h"
#include "win/response_trailers.h"
#include "win/sent_file.h"

namespace httpsys::win {

struct KernelConnection;

// One request of HTTP.SYS and its response. The application writes bytes as for a socket. HTTP.SYS
// gets the head in parts; all other bytes go through unchanged, including chunk framing and opaque
// bytes. At most one call per direction is outstanding. Must stay alive until has_calls() is false.
// Thread: the lane.
class Exchange {
 public:
  // A piece of output, waiting or being sent.
  struct Piece {
    std::string copy;
    const uint8_t* block = nullptr;  // Lent memory that is sent instead of `copy`.
    std::unique_ptr<SentFile> file;
    uint32_t block_id = 0;
    bool has_block() const { return block != nullptr || file != nullptr; }
    size_t bytes = 0;
    size_t payload_bytes = 0;  // The payload bytes as JavaScript counts them, without framing.
  };

  Exchange(std::shared_ptr<KernelQueue> queue, HTTP_REQUEST_ID id, bool is_core_only);
  Exchange& operator=(Exchange&&) = delete;

  // The request's connection; nullptr = JavaScript needs no more events of the exchange.
  KernelConnection* connection = nullptr;
  // True if JavaScript gets the body and more of it must be received.
  bool has_more_body = false;
  // True while the body must not be received, because JavaScript has not sent 100 Continue.
  bool awaits_continue = false;
  // True if JavaScript got an error instead of the request.
  bool is_refused = false;
  // The number of body bytes that JavaScript has got so far.
  uint64_t body_bytes = 0;
  OpaqueChannel opaque;
  // Must be set before the head is sent.
  CachePolicy cache_policy;
  // True if the kernel buffers the response and accepts everything at once.
  bool is_buffered = false;
  // The log entry of the request; nullptr = it is not logged.
  std::unique_ptr<LogFields> log;
  // True for a stream of HTTP/2 or 3: its chunk framing is removed, and the connection outlives it.
  // Must be set before anything is written.
  bool is_stream = false;
  bool is_head_request = false;
  // Session's own flags: the exchange is in its list of touched, or of discarded, exchanges.
  bool is_touched = false;
  bool is_discarded = false;

  // -- The response.

  void Write(std::string_view bytes, size_t payload_bytes);
  void WriteBlock(uint32_t block_id, std::span<const uint8_t> memory);
  // Sends a part of a file. Uses no credit, because the file occupies no memory of JavaScript.
  void WriteFile(uint32_t block_id, std::unique_ptr<SentFile> file);
  // Ends the response. With `closes`, the connection ends after it.
  void End(bool closes);
  // Makes the connection end after a response that has ended and is still being sent.
  void CloseBehind() { closes_ = true; }
  bool is_ended() const { return is_ended_; }
  bool closes() const { return closes_; }
  bool CanSend() const;
  // Makes a call that sends waiting output. NO_ERROR: the call is already complete.
  CallResult Send();
  // Returns the pieces that were sent. Must be called once for each completed Send().
  std::vector<Piece> TakeSent();
  // Returns and removes the pieces that no call is sending.
  std::vector<Piece> TakeWaiting() { return std::exchange(pieces_, {}); }
  size_t TakeSentHeadBytes();
  bool is_done() const { return is_done_; }
  bool has_head() const { return has_head_; }
  // True if the response is a 101 to an upgrade that JavaScript has accepted.
  bool is_opaque() const { return has_head_ && opaque.is_accepted() && head_.status() == 101; }
  bool HasFile() const;
  // True if the head was sent, and no output waits or is being sent.
  bool IsIdle() const { return !is_sending_ && pieces_.empty() && is_head_sent_; }
  // True if the application's output cannot be sent as a response.
  bool is_hopeless() const { return is_malformed_ || (is_ended_ && !has_head_); }

  // -- The request's body, or the client's opaque bytes.

  bool WantsBytes() const { return (has_more_body && !awaits_continue) || opaque.WantsBytes(); }
  bool is_receiving() const { return is_receiving_; }
  CallResult Receive(size_t bytes_max);
  std::string_view OnReceived(size_t bytes);
  void OnReceiveFailed() { is_receiving_ = false; }

  // Resets the connection. Wine cannot: there, sends the response as far as it was written or, if
  // its head was not sent, an empty response. Returns the waiting output.
  [[nodiscard]] std::vector<Piece> Abort();

  bool has_calls() const { return is_sending_ || is_receiving_; }
  bool is_sending() const { return is_sending_; }
  static Exchange* Of(Operation* operation);

 private:
  struct Call : Operation {
    Call(OperationKind kind, Exchange* exchange) : Operation(kind), exchange(exchange) {}
    Exchange* const exchange;
  };

  void ReadHeads();
  bool TakeHead(std::string text);
  void WriteText(std::string_view bytes, size_t payload_bytes);
  void BeginBody(std::string_view head_text);
  void TakeTrailers(std::string_view text);
  void Append(std::string_view bytes, size_t payload_bytes);
  void AppendBlock(Piece piece);
  void FillChunks();
  HTTP_LOG_DATA* LogData(ULONG flags);

  const std::shared_ptr<KernelQueue> queue_;
  const HTTP_REQUEST_ID id_;
  const bool is_core_only_;

  std::string head_text_;  // The beginning of the head until it is complete.
  ResponseCall head_;
  bool has_head_ = false;
  bool is_head_sent_ = false;
  bool is_ended_ = false;
  bool is_end_told_ = false;
  bool is_done_ = false;
  bool closes_ = false;
  bool is_malformed_ = false;
  bool is_aborted_ = false;
  bool is_sending_ = false;
  http2::ResponseText text_;  // Removes the framing from a stream's output.
  // Bytes of a stream's output, with the framing that text_ removes, which belong to no piece yet.
  // The next piece of the body counts them, so that JavaScript gets its credit for them, too.
  size_t uncredited_ = 0;
  std::vector<Piece> pieces_;   // Pieces that no call is sending.
  std::vector<Piece> sending_;  // Pieces of the outstanding call.
  std::vector<HTTP_DATA_CHUNK> chunks_;
  std::unique_ptr<ResponseTrailers> trailers_;  // The trailers of a stream; nullptr = none.
  size_t sent_head_bytes_ = 0;
  Call send_call_{OperationKind::kSend, this};

  bool is_receiving_ = false;
  std::vector<char> buffer_;
  Call receive_call_{OperationKind::kReceiveBody, this};
};

}  // namespace httpsys::win
