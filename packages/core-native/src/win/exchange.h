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

// One request of HTTP.SYS and its response. The bytes of the response come as an application writes
// them to a socket. HTTP.SYS is given the parts of the head; the rest goes through as it is, chunk
// framing and opaque bytes included. At most one call per direction is outstanding. Must stay alive
// until has_calls() is false. Thread: the lane.
class Exchange {
 public:
  // A piece of output that a call has taken over.
  struct Piece {
    std::string copy;
    const uint8_t* block = nullptr;  // Lent memory; it or a file takes the place of the copy.
    std::unique_ptr<SentFile> file;
    uint32_t block_id = 0;
    bool has_block() const { return block != nullptr || file != nullptr; }
    size_t bytes = 0;
    size_t payload_bytes = 0;  // The bytes as JavaScript counts them: without framing.
  };

  Exchange(std::shared_ptr<KernelQueue> queue, HTTP_REQUEST_ID id, bool is_core_only);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The connection on which the request is answered; nullptr = nobody wants to hear of it any more.
  KernelConnection* connection = nullptr;
  // JavaScript gets the body, and more of it must be received.
  bool has_more_body = false;
  // The body is not received before JavaScript has told the client to send it (100 Continue).
  bool awaits_continue = false;
  // JavaScript was told of an error instead of the request.
  bool is_refused = false;
  // The bytes of the body given to JavaScript so far.
  uint64_t body_bytes = 0;
  // The state of an upgrade.
  OpaqueChannel opaque;
  // Set before the head is sent.
  CachePolicy cache_policy;
  // The kernel buffers the response, and takes everything at once.
  bool is_buffered = false;
  // nullptr = the request is not logged.
  std::unique_ptr<LogFields> log;
  // Set before anything is written. A stream of HTTP/2 or 3: chunk framing is not sent, and the
  // connection outlives the stream.
  bool is_stream = false;
  // The method is HEAD.
  bool is_head_request = false;
  // Used by Session: the exchange is in its list of touched, or of discarded, ones.
  bool is_touched = false;
  bool is_discarded = false;

  // -- The response.

  void Write(std::string_view bytes, size_t payload_bytes);
  void WriteBlock(uint32_t block_id, std::span<const uint8_t> memory);
  // Sends a part of a file. Its bytes take no credit, because no memory of JavaScript is held for
  // them.
  void WriteFile(uint32_t block_id, std::unique_ptr<SentFile> file);
  // Ends the response. With `closes`, the connection ends behind it.
  void End(bool closes);
  // Makes the connection end behind a response that has ended and is being sent.
  void CloseBehind() { closes_ = true; }
  bool is_ended() const { return is_ended_; }
  bool closes() const { return closes_; }
  // True if there is something to send and no call is outstanding.
  bool CanSend() const;
  // Makes a call that sends what waits. NO_ERROR: it was completed at once.
  CallResult Send();
  // Returns what was sent. Must be called once for each completed Send().
  std::vector<Piece> TakeSent();
  // Takes the pieces that no call has taken over.
  std::vector<Piece> TakeWaiting() { return std::exchange(pieces_, {}); }
  size_t TakeSentHeadBytes();
  // The end of the response has been sent.
  bool is_done() const { return is_done_; }
  bool has_head() const { return has_head_; }
  // The response is a 101 to an upgrade that JavaScript has taken.
  bool is_opaque() const { return has_head_ && opaque.is_accepted() && head_.status() == 101; }
  // True if a file waits or is being sent.
  bool HasFile() const;
  // True if nothing waits and nothing is being sent.
  bool IsIdle() const { return !is_sending_ && pieces_.empty() && is_head_sent_; }
  // True if the application's output cannot be sent as a response.
  bool is_hopeless() const { return is_malformed_ || (is_ended_ && !has_head_); }

  // -- The request's body, or the peer's opaque bytes.

  // True if more bytes of the peer must be received.
  bool WantsBytes() const { return (has_more_body && !awaits_continue) || opaque.WantsBytes(); }
  bool is_receiving() const { return is_receiving_; }
  CallResult Receive(size_t bytes_max);
  std::string_view OnReceived(size_t bytes);
  void OnReceiveFailed() { is_receiving_ = false; }

  // Cuts the connection. Where HTTP.SYS has no call for that, an empty response, or what there is
  // of it, is sent instead. Returns the output that was waiting.
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

  std::string head_text_;  // The head until it is complete.
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
  http2::ResponseText text_;  // Takes a stream's output apart.
  size_t uncredited_ = 0;  // The bytes of framing in a stream's output that have not been credited.
  std::vector<Piece> pieces_;   // Waiting.
  std::vector<Piece> sending_;  // In the outstanding call.
  std::vector<HTTP_DATA_CHUNK> chunks_;
  std::unique_ptr<ResponseTrailers> trailers_;  // The trailers of a stream; nullptr = none.
  size_t sent_head_bytes_ = 0;
  Call send_call_{OperationKind::kSend, this};

  bool is_receiving_ = false;
  std::vector<char> buffer_;
  Call receive_call_{OperationKind::kReceiveBody, this};
};

}  // namespace httpsys::win
