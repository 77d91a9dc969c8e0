#pragma once
// Answers that a lane gives without JavaScript: to requests that nobody serves, to messages that
// are refused, and on behalf of owners that are away or do not keep up.

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

// One answer. Its views are valid until AnswerWriter::WriteAnswer() returns, except for the bytes
// of pieces that have an owner.
struct NativeAnswer {
  // A piece of the body. `owner` keeps the bytes until they have been sent: they are not copied.
  // As far as the socket does not take bytes without an owner at once, `lender` keeps them; without
  // a lender, too, they are copied then.
  struct Piece {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
    std::shared_ptr<const files::FilePart> file;  // Not nullptr: the piece is these bytes.
    Lender* lender = nullptr;
  };

  LaneCounter counter = LaneCounter::kUnrouted;  // The counter that counts the answer.
  int status = 0;                                // 0 = nothing is sent: the request is reset.
  std::string_view reason;  // The reason phrase for the error log; empty = it is not logged.
  // Status line and header lines of HTTP/1.1, with the empty line behind them. A protocol that has
  // other heads translates it.
  std::string_view head;
  // True for an error in the engine's own words, not in those of the application or of node:http:
  // NativeAnswers adds Date (RFC 9110, section 6.6.1) and Server to the head.
  bool is_own_error = false;
  // True when the head has the field Connection. Otherwise HTTP/1.1 adds it, and Keep-Alive, as
  // node:http does.
  bool names_connection = false;
  std::span<const Piece> pieces;  // The body. Empty for HEAD.
  bool closes = false;            // True when the connection ends behind it (HTTP/1).
  // True when the request waited in a server's queue and is the oldest one without an answer.
  // Nothing more is read then (HTTP/1).
  bool was_queued = false;
  // True when another member had the request, which is the oldest one without an answer.
  bool was_relayed = false;
  bool may_retry = true;  // True when nobody has begun the request.
};

// The result of giving an answer.
enum class AnswerOutcome : uint8_t {
  kGiven,
  kReset,  // The request was reset instead.
  kLater,  // Nothing was done, because earlier requests of the connection have no answer yet.
};

// Writes answers in a protocol. Thread: the lane.
class AnswerWriter {
 public:
  // True if no other answer must leave before that to a request which nobody was given.
  virtual bool IsTurn(const Connection& connection) const = 0;
  // Sends the answer behind all earlier output of the connection. May close the connection.
  virtual void WriteAnswer(Connection* connection, const NativeAnswer& answer) = 0;
  // Resets the request instead of answering it. `may_retry`: the client can be told that nobody has
  // begun the request.
  virtual void ResetRequest(Connection* connection, bool may_retry) = 0;

 protected:
  ~AnswerWriter() = default;
};

// Gives the answers of one lane: in the order of the requests, counted, logged, and written by the
// protocol that the client speaks. Thread: the lane.
class NativeAnswers final : public ReadObserver {
 public:
  NativeAnswers(const http1::MethodTable* methods, OutputPass* output)
      : methods_(methods), head_method_(methods->Find("HEAD")), output_(output) {}
  NativeAnswers(const NativeAnswers&) = delete;
  NativeAnswers& operator=(const NativeAnswers&) = delete;

  // A request that is answered because of its route's status, and what is known of it.
  struct Unserved {
    RouteStatus status;
    const http1::RequestHead* head = nullptr;  // nullptr = the head is not known any more.
    bool is_head_request = false;              // The method is HEAD. Valid if `head` is nullptr.
    bool closes = false;                       // These four are those of NativeAnswer.
    bool was_queued = false;
    bool was_relayed = false;
    bool may_retry = true;
    bool serves_any_method = false;  // True when nothing at all is known of the request.
  };

  // Gives the answer of HTTP.SYS; a 503 becomes a reset if the server's verbosity is
  // Verbosity503::kBasic.
  AnswerOutcome AnswerUnserved(AnswerWriter* writer, Connection* connection,
                               const Unserved& request);
  // Gives the answer of node:http to a message that it refuses; the engine's own where node:http
  // would have none.
  void AnswerRefused(AnswerWriter* writer, Connection* connection, records::ErrorKind kind,
                     bool is_in_body);
  // Gives the answer to a client that speaks plain HTTP where TLS is served.
  void AnswerPlainHttp(AnswerWriter* writer, Connection* connection);
  // Gives any answer.
  AnswerOutcome Answer(AnswerWriter* writer, Connection* connection, const http1::RequestHead* head,
                       const NativeAnswer& answer);

  // Counts and logs a body that JavaScript refuses. `is_answered`: JavaScript answers with 413;
  // otherwise its response has begun, and the request is reset.
  void CountRefusedBody(const Connection* connection, bool is_answered);
  // Counts and logs a client that reads more slowly than minSendRate. It gets no answer.
  void CountSlowReader(const Connection* connection);

  // Counts and logs a connection that is closed at once, because its client has too many.
  void CountRefusedConnection(int fd, const LaneServer& server);

  // -- For writers whose output is text. The answers to the requests of one read leave in one
  // write, unless more than limits::kUnsentBytesMax of output waits.

  // Appends an answer to the output of the current read.
  void Append(Connection* connection, const NativeAnswer& answer);
  // Gives what was appended to OutputPass without writing it. EndAnswer() must follow.
  void Send(Connection* connection);
  // Ends an answer that was appended. Writes what was appended if it must leave at once, is as much
  // as may wait, or has a large piece without an owner. May close the connection.
  void EndAnswer(Connection* connection, bool must_leave);
  // Writes what was appended. May close the connection.
  void Flush(Connection* connection);
  void OnRead(Connection* connection) override { Flush(connection); }

  // Names the answers that were appended for the connection in the current read, and have not left;
  // 0 = there are none. Numbers are not used twice.
  uint64_t BatchOf(const Connection* connection) const {
    return batched_ == connection ? batch_number_ : 0;
  }

  const LaneCounters& counters() const { return counters_; }
  // True if something was refused or left out since the last call that ErrorLog or RefusalNotice
  // must tell in a later second.
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
  Refusals refusals_{};     // Those that RefusalNotice does not have yet.
  std::string text_;        // The text of the answer that is being made.
  std::string error_head_;  // That of HeadOfOwnError().
  semantics::ResponseDate date_;
  // The text of the answers that were appended for `batched_`, and the pieces that belong in
  // between and are not copied.
  std::string batch_;
  std::vector<OwnedPiece> owned_;
  size_t batch_bytes_ = 0;  // The bytes of batch_ and of the pieces in owned_.
  Connection* batched_ = nullptr;
  uint64_t batch_number_ = 1;  // The number of the answers for `batched_`, or of the next ones.
  bool is_batch_sent_ = false;
  bool has_lent_ = false;  // A piece in owned_ has no owner: it is valid until EndAnswer() returns.
};

}  // namespace httpsys::engine
