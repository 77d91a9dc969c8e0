#pragma once
// Answers that a lane gives without JavaScript: to requests without an owner, to refused messages,
// and on behalf of owners that are offline or too slow.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/output_pass.h"
#include "engine/statistics/lane_counters.h"
#include "engine/statistics/refusal_notice.h"
#include "files/open_file.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/records.h"
#include "semantics/http_date.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// One answer. Its views must be valid until AnswerWriter::WriteAnswer() returns. Bytes with an
// owner must be valid as long as the owner exists.
struct NativeAnswer {
  // A piece of the body. If it has an `owner`, the bytes are not copied: the owner keeps them until
  // they have been sent. Otherwise the bytes that the socket does not take at once are kept by
  // `lender`, or copied if that is nullptr.
  struct Piece {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
    // If not nullptr, the piece is this part of a file.
    std::shared_ptr<const files::FilePart> file;
    Lender* lender = nullptr;
  };

  LaneCounter counter = LaneCounter::kUnrouted;  // The counter to increment.
  int status = 0;                                // 0 = nothing is sent: the request is reset.
  std::string_view reason;  // The reason phrase for the error log; empty = it is not logged.
  // Status line and header lines of HTTP/1.1, with the empty line at the end. HTTP/2 translates
  // them.
  std::string_view head;
  // True for an error text of the engine, not of the application or node:http. NativeAnswers then
  // adds Date (RFC 9110, section 6.6.1) and Server to the head.
  bool is_own_error = false;
  // True if the head has the field Connection. Otherwise HTTP/1.1 adds Connection and Keep-Alive,
  // as node:http does.
  bool names_connection = false;
  std::span<const Piece> pieces;  // The body. Empty for HEAD.
  bool closes = false;            // True if the connection ends after the answer (HTTP/1).
  // True if the request waited in a server's queue and is the oldest one without an answer. The
  // connection then reads nothing more (HTTP/1).
  bool was_queued = false;
  // True if another member had the request, and it is the oldest one without an answer.
  bool was_relayed = false;
  bool may_retry = true;  // True if no server has begun the request, so the client may repeat it.
};

// The result of trying to answer a request without JavaScript.
enum class AnswerOutcome : uint8_t {
  kNone,  // There is no answer: JavaScript gets the request.
  kGiven,
  kReset,  // The request was reset instead.
  // Nothing was done, because earlier requests of the connection have no answer yet, or the answer
  // must be fetched first. The caller must pause with kPauseOrder.
  kLater,
};

// Writes answers in a protocol. Thread: the lane.
class AnswerWriter {
 public:
  // True if an answer to the request being read can be sent now: no earlier answer is due.
  virtual bool IsTurn(const Connection& connection) const = 0;
  // Sends the answer behind all earlier output of the connection. May close the connection.
  virtual void WriteAnswer(Connection* connection, const NativeAnswer& answer) = 0;
  // Resets the request instead of answering it. `may_retry`: no server has begun the request, so
  // the reset may say that the client can repeat it.
  virtual void ResetRequest(Connection* connection, bool may_retry) = 0;

 protected:
  ~AnswerWriter() = default;
};

// Gives the native answers of one lane: counts and logs each one, and has it written by the
// client's protocol in the order of the requests. Thread: the lane.
class NativeAnswers final : public ReadObserver {
 public:
  NativeAnswers(const http1::MethodTable* methods, OutputPass* output)
      : methods_(methods), head_method_(methods->Find("HEAD")), output_(output) {}
  NativeAnswers(const NativeAnswers&) = delete;
  NativeAnswers& operator=(const NativeAnswers&) = delete;

  // A request that is answered according to its route's status. `closes`, `was_queued`,
  // `was_relayed` and `may_retry` are as in NativeAnswer.
  struct Unserved {
    RouteStatus status;
    const http1::RequestHead* head = nullptr;  // nullptr = the head is no longer known.
    bool is_head_request = false;              // The method is HEAD. Valid if `head` is nullptr.
    bool closes = false;
    bool was_queued = false;
    bool was_relayed = false;
    bool may_retry = true;
    // True if nothing is known of the request, not even its method.
    bool serves_any_method = false;
  };

  // Answers like HTTP.SYS. With Http503Verbosity::kBasic, resets the request instead of a 503.
  AnswerOutcome AnswerUnserved(AnswerWriter* writer, Connection* connection,
                               const Unserved& request);
  // Gives node:http's answer to a refused message, or the engine's own answer where node:http has
  // none.
  void AnswerRefused(AnswerWriter* writer, Connection* connection, records::ErrorKind kind,
                     bool is_in_body);
  // Answers a client that speaks plain HTTP on a port that serves TLS.
  void AnswerPlainHttp(AnswerWriter* writer, Connection* connection);
  // Counts, logs and writes an answer that the caller has made. Returns kLater if earlier requests
  // of the connection have no answer yet.
  AnswerOutcome Answer(AnswerWriter* writer, Connection* connection, const http1::RequestHead* head,
                       const NativeAnswer& answer);

  // Counts and logs a body that JavaScript refuses. `is_answered`: JavaScript answers with 413;
  // otherwise its response has begun, and the request is reset.
  void CountRefusedBody(const Connection* connection, bool is_answered);
  // Counts and logs a client that reads more slowly than minSendRate. It gets no answer.
  void CountSlowReader(const Connection* connection);

  // Counts and logs a connection that is closed at once, because its client has too many.
  void CountRefusedConnection(int fd, const LaneServer& server);

  // -- For the HTTP/1.1 writer. The answers to the requests of one read are sent in one write,
  // unless more than limits::kUnsentBytesMax of output waits.

  // Appends an answer to the output of the current read.
  void Append(Connection* connection, const NativeAnswer& answer);
  // Passes the appended answers to OutputPass, which does not write them yet. EndAnswer() must
  // follow.
  void Send(Connection* connection);
  // Must be called after Append(). Writes the appended answers if `must_leave`, if they have
  // reached the length that may wait, or if they have a large piece without an owner. May close the
  // connection.
  void EndAnswer(Connection* connection, bool must_leave);
  // Writes the appended answers. May close the connection.
  void Flush(Connection* connection);
  void OnRead(Connection* connection) override { Flush(connection); }

  // Returns the number of the batch of answers that was appended for the connection in the current
  // read and is not sent; 0 = none. Numbers are not used twice.
  uint64_t BatchOf(const Connection* connection) const {
    return batched_ == connection ? batch_number_ : 0;
  }

  const LaneCounters& counters() const { return counters_; }
  // Reports the refusals counted since the last call of TakeUntold() to RefusalNotice. Returns true
  // if RefusalNotice or ErrorLog must write something in a later second.
  bool TakeUntold();

 private:
  AnswerOutcome Give(AnswerWriter* writer, Connection* connection, const http1::RequestHead* head,
                     const NativeAnswer& answer);
  // Returns the head with the fields of an error in the engine's own words.
  std::string_view HeadOfOwnError(const ServerSettings& settings, std::string_view head);
  void CountUnserved(RouteStatus status);
  void Log(const Connection* connection, const http1::RequestHead* head, int status,
           std::string_view reason);

  // A piece that is not copied. It belongs behind the first `text_bytes` of batch_.
  struct OwnedPiece {
    size_t text_bytes;
    NativeAnswer::Piece piece;
  };

  const http1::MethodTable* methods_;
  const int head_method_;
  OutputPass* output_;
  LaneCounters counters_;
  bool has_dropped_lines_ = false;
  bool has_refusals_ = false;
  Refusals refusals_{};     // Counts that RefusalNotice does not have yet.
  std::string text_;        // Scratch memory: the text of the answer that is being made.
  std::string error_head_;  // Scratch memory: the result of HeadOfOwnError().
  semantics::ResponseDate date_;
  // The text of the answers that were appended for `batched_`. owned_ has the pieces that belong in
  // between and are not copied.
  std::string batch_;
  std::vector<OwnedPiece> owned_;
  size_t batch_bytes_ = 0;  // The bytes of batch_ and of the pieces in owned_.
  Connection* batched_ = nullptr;
  uint64_t batch_number_ = 1;  // The number of the current batch of answers, or of the next one.
  bool is_batch_sent_ = false;
  bool has_lent_ = false;  // A piece in owned_ has no owner: it is valid until EndAnswer() returns.
};

}  // namespace httpsys::engine
