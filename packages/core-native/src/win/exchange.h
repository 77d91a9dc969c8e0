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

// One request in the hands of HTTP.SYS and its response. Bytes of a response come as an application
// writes them to a socket; of their head the parts are told to HTTP.SYS, the rest goes through as
// it is, chunk framing included, or opaque bytes. One call per direction is outstanding at a time.
//
// Thread: the lane. It must stay until has_calls() is false.
class Exchange {
 public:
  // A piece of output that a call has taken over.
  struct Piece {
    std::string copy;
    const uint8_t* block = nullptr;  // Lent memory, or a file, in place of the copy.
    std::unique_ptr<SentFile> file;
    uint32_t block_id = 0;
    bool has_block() const { return block != nullptr || file != nullptr; }
    size_t bytes = 0;
    size_t payload_bytes = 0;  // As JavaScript counts: without framing.
  };

  Exchange(std::shared_ptr<KernelQueue> queue, HTTP_REQUEST_ID id, bool is_core_only);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The connection that it is answered on, nullptr when nobody wants to hear of it any more.
  KernelConnection* connection = nullptr;
  // The body is given to JavaScript: more of it has to be received.
  bool has_more_body = false;
  // Nothing of it is asked for before JavaScript has said that the client may send it.
  bool awaits_continue = false;
  // JavaScript was told an error in place of the request.
  bool is_refused = false;
  // Given to JavaScript so far.
  uint64_t body_bytes = 0;
  // What becomes of it when JavaScript takes an upgrade.
  OpaqueChannel opaque;
  // Before the head is sent.
  CachePolicy cache_policy;
  // By the kernel, which takes all that it is given at once.
  bool is_buffered = false;
  // nullptr = it is not logged.
  std::unique_ptr<LogFields> log;
  // Before anything is written: of HTTP/2 or 3, where chunk framing is not sent, and whose
  // connection outlives it; and whether its method is HEAD.
  bool is_stream = false;
  bool is_head_request = false;
  // Of the session: in its list of those to be looked at, or of those to be freed.
  bool is_touched = false;
  bool is_discarded = false;

  // -- The response.

  void Write(std::string_view bytes, size_t payload_bytes);
  void WriteBlock(uint32_t block_id, std::span<const uint8_t> memory);
  // Its bytes take no credit: nothing of JavaScript's is kept for them.
  void WriteFile(uint32_t block_id, std::unique_ptr<SentFile> file);
  // Nothing more is written; with `closes` the connection ends behind it.
  void End(bool closes);
  // The same for one that has ended and is being sent.
  void CloseBehind() { closes_ = true; }
  bool is_ended() const { return is_ended_; }
  bool closes() const { return closes_; }
  // Whether a call would say something new, and none is outstanding.
  bool CanSend() const;
  // Makes that call. NO_ERROR: it was completed at once.
  CallResult Send();
  // To be called once for each Send() that has completed. What was sent.
  std::vector<Piece> TakeSent();
  // What no call has taken over yet.
  std::vector<Piece> TakeWaiting() { return std::exchange(pieces_, {}); }
  size_t TakeSentHeadBytes();
  // The end of the response has been sent.
  bool is_done() const { return is_done_; }
  bool has_head() const { return has_head_; }
  // The response is a 101 to an upgrade that JavaScript has taken.
  bool is_opaque() const { return has_head_ && opaque.is_accepted() && head_.status() == 101; }
  bool is_head_sent() const { return is_head_sent_; }
  // Part of it is a file that waits, or is being sent.
  bool HasFile() const;
  // Nothing that was written waits, or is being sent.
  bool IsIdle() const { return !is_sending_ && pieces_.empty() && is_head_sent_; }
  // What the application wrote, if it wrote anything, cannot be sent as a response.
  bool is_hopeless() const { return is_malformed_ || (is_ended_ && !has_head_); }

  // -- The request's body, or the peer's opaque bytes.

  // Whether there is something to receive, and it is wanted.
  bool WantsBytes() const { return (has_more_body && !awaits_continue) || opaque.WantsBytes(); }
  bool is_receiving() const { return is_receiving_; }
  CallResult Receive(size_t bytes_max);
  std::string_view OnReceived(size_t bytes);
  void OnReceiveFailed() { is_receiving_ = false; }

  // Cuts the connection; where HTTP.SYS has no call for that, what goes out in place of a response
  // is an empty one, or what there is of it. Output that was waiting.
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

  std::string head_text_;  // Until it is whole.
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
  http2::ResponseText text_;    // Of a stream.
  size_t uncredited_ = 0;       // What was framing there.
  std::vector<Piece> pieces_;   // Waiting.
  std::vector<Piece> sending_;  // In the outstanding call.
  std::vector<HTTP_DATA_CHUNK> chunks_;
  std::unique_ptr<ResponseTrailers> trailers_;  // Of a stream; nullptr = none.
  size_t sent_head_bytes_ = 0;
  Call send_call_{OperationKind::kSend, this};

  bool is_receiving_ = false;
  std::vector<char> buffer_;
  Call receive_call_{OperationKind::kReceiveBody, this};
};

}  // namespace httpsys::win
