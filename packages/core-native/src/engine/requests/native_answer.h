#pragma once
// Answers that a lane gives without JavaScript: to requests that nobody serves, to messages that
// are refused, and on behalf of owners that are away or do not keep up.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/output_pass.h"
#include "engine/statistics/lane_counters.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// One answer. Its views are valid until AnswerWriter::WriteAnswer() returns.
struct NativeAnswer {
  // A piece of the body. `owner` keeps the bytes until they have been sent; bytes without an owner
  // are copied.
  struct Piece {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };

  LaneCounter counter = LaneCounter::kUnrouted;  // The counter that counts the answer.
  int status = 0;                                // 0 = nothing is sent: the request is reset.
  std::string_view reason;                       // The reason phrase for the error log.
  // Status line and header lines of HTTP/1.1, with the empty line behind them. A protocol that has
  // other heads translates it.
  std::string_view head;
  std::span<const Piece> pieces;  // The body. Empty for HEAD.
  bool closes = false;            // True when the connection ends behind it (HTTP/1).
  bool ends_input = false;        // True when JavaScript had the request: nothing more is read.
  bool may_retry = true;          // True when nobody has begun the request.
};

// Writes answers in a protocol. Thread: the lane.
class AnswerWriter {
 public:
  // Sends the answer behind all earlier output of the connection. May close the connection.
  virtual void WriteAnswer(Connection* connection, const NativeAnswer& answer) = 0;
  // Resets the request instead of answering it. `may_retry`: the client can be told that nobody has
  // begun the request.
  virtual void ResetRequest(Connection* connection, bool may_retry) = 0;

 protected:
  ~AnswerWriter() = default;
};

// Counts, logs and writes the answers of one lane. Thread: the lane.
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
    bool closes = false;
    bool ends_input = false;
    bool may_retry = true;
    bool serves_any_method = false;  // True when nothing at all is known of the request.
  };

  // Gives the answer of HTTP.SYS; a 503 becomes a reset if the server's verbosity is
  // Verbosity503::kBasic. Returns false for a reset.
  bool AnswerUnserved(AnswerWriter* writer, Connection* connection, const Unserved& request);
  // Gives the answer of node:http to a message that it refuses.
  void AnswerRefused(AnswerWriter* writer, Connection* connection, records::ErrorKind kind,
                     bool is_in_body);
  // Counts, logs and writes any answer. Returns false for a reset.
  bool Answer(AnswerWriter* writer, Connection* connection, const http1::RequestHead* head,
              const NativeAnswer& answer);
  // True if answers of JavaScript must leave before one that is made now.
  static bool MustWait(const Connection& connection) {
    return connection.message.unanswered() != 0;
  }

  // Counts and logs a client that reads more slowly than minSendRate. It gets no answer.
  void CountSlowReader(const Connection* connection);

  // -- For protocols whose output is text. The answers to the requests of one read leave in one
  // write, unless limits::kUnsentBytesMax of output wait.

  // Appends an answer to the output of the current read. The bytes are copied.
  void Append(Connection* connection, const NativeAnswer& answer);
  // Gives what was appended to OutputPass without writing it. Flush() must follow before the next
  // Append().
  void Send(Connection* connection);
  // Writes what was appended. May close the connection.
  void Flush(Connection* connection);
  void OnRead(Connection* connection) override { Flush(connection); }
  // True if Flush() must be called before the next answer is made, because enough output waits.
  bool IsBatchFull(const Connection& connection) const {
    return batch_.size() + OutputPass::UnsentBytes(connection) > limits::kUnsentBytesMax;
  }

  const LaneCounters& counters() const { return counters_; }
  // True if the error log has left out a line since the last call.
  bool TakeDroppedLines() { return std::exchange(has_dropped_lines_, false); }

 private:
  void Log(const Connection* connection, const http1::RequestHead* head, int status,
           std::string_view reason);

  const http1::MethodTable* methods_;
  const int head_method_;
  OutputPass* output_;
  LaneCounters counters_;
  bool has_dropped_lines_ = false;
  std::string text_;   // The text of the answer that is being made.
  std::string batch_;  // The answers that were appended for `batched_`.
  Connection* batched_ = nullptr;
  bool is_batch_sent_ = false;
};

}  // namespace httpsys::engine
