#include "engine/requests/native_answer.h"

#include <ctime>

#include "base/limits.h"
#include "engine/connection/announcer.h"
#include "engine/requests/canned_replies.h"
#include "engine/statistics/error_log.h"

namespace httpsys::engine {
namespace {

// Flush() frees batch_ if its capacity is above this: a client that sends many requests must not
// cost memory for long.
constexpr size_t kKeptBytesMax = 2 * limits::kUnsentBytesMax;
// A piece without an owner of at least this size is sent from its own memory and not copied, so its
// batch is written at once. OutputPass copies smaller pieces anyway.
constexpr size_t kLentBytesMin = limits::kGatherBytesMax;
constexpr std::string_view kCloseLine = "Connection: close\r\n";

bool IsStream(const Connection& connection) {
  const RelayOrigin* origin = connection.origin();
  return connection.stream != nullptr || (origin != nullptr && origin->is_stream);
}

}  // namespace

AnswerOutcome NativeAnswers::AnswerUnserved(AnswerWriter* writer, Connection* connection,
                                            const Unserved& request) {
  const bool was_given = request.was_queued || request.was_relayed;
  if (!was_given && !writer->IsTurn(*connection)) return AnswerOutcome::kLater;
  CountUnserved(request.status);
  const bool is_of_queue = request.was_queued || request.status == RouteStatus::kQueueFull ||
                           request.status == RouteStatus::kQueueTimeout;
  if (is_of_queue) {
    connection->server()->refused->fetch_add(1, std::memory_order_relaxed);
  }
  NativeAnswer answer;
  answer.is_own_error = true;
  answer.status = StatusFor(request.status);
  answer.reason = ReasonFor(request.status);
  answer.closes = request.closes;
  answer.was_queued = request.was_queued;
  answer.was_relayed = request.was_relayed;
  answer.may_retry = request.may_retry;
  const Http503Verbosity verbosity = connection->server()->config->settings().http_503_verbosity;
  const bool is_unavailable = answer.status == 503;
  if (is_unavailable) answer.counter = LaneCounter::kUnavailable;
  if (is_unavailable && verbosity == Http503Verbosity::kBasic) {
    answer.status = 0;
    return Give(writer, connection, request.head, answer);
  }
  if (request.serves_any_method) {
    answer.head = OfflineReply();
    answer.names_connection = true;
    return Give(writer, connection, request.head, answer);
  }
  const bool is_reason_told = is_unavailable && verbosity == Http503Verbosity::kFull;
  const bool is_head =
      request.head == nullptr ? request.is_head_request : request.head->method == head_method_;
  text_.clear();
  const size_t head_bytes = AppendRouteReply(
      request.status, is_reason_told ? answer.reason : std::string_view(), is_head, &text_);
  const std::string_view text = text_;
  answer.head = text.substr(0, head_bytes);
  const NativeAnswer::Piece body{nullptr, text.substr(head_bytes), nullptr};
  if (!body.bytes.empty()) answer.pieces = {&body, 1};
  return Give(writer, connection, request.head, answer);
}

void NativeAnswers::AnswerRefused(AnswerWriter* writer, Connection* connection,
                                  records::ErrorKind kind, bool is_in_body) {
  NativeAnswer answer;
  answer.counter = LaneCounter::kRefused;
  answer.status = StatusFor(kind);
  answer.reason = ReasonFor(kind, is_in_body);
  answer.head = RefusalReply(kind);
  // node:http itself never sends these: it has no limit for bodies, and no such text on HTTP/2.
  answer.is_own_error = kind == records::ErrorKind::kBodyTooLarge || IsStream(*connection);
  answer.closes = answer.names_connection = true;
  (void)Give(writer, connection, nullptr, answer);
}

void NativeAnswers::AnswerPlainHttp(AnswerWriter* writer, Connection* connection) {
  NativeAnswer answer;
  answer.counter = LaneCounter::kRefused;
  answer.status = 400;
  answer.reason = ReasonFor(records::ErrorKind::kMalformed, false);
  answer.head = PlainHttpReply();
  answer.is_own_error = true;
  answer.closes = answer.names_connection = true;
  (void)Give(writer, connection, nullptr, answer);
}

AnswerOutcome NativeAnswers::Answer(AnswerWriter* writer, Connection* connection,
                                    const http1::RequestHead* head, const NativeAnswer& answer) {
  const bool was_given = answer.was_queued || answer.was_relayed;
  if (!was_given && !writer->IsTurn(*connection)) return AnswerOutcome::kLater;
  return Give(writer, connection, head, answer);
}

AnswerOutcome NativeAnswers::Give(AnswerWriter* writer, Connection* connection,
                                  const http1::RequestHead* head, const NativeAnswer& answer) {
  counters_.Add(answer.counter);
  if (!answer.reason.empty()) Log(connection, head, answer.status, answer.reason);
  if (answer.status != 0) {
    if (answer.is_own_error) {
      NativeAnswer named = answer;
      named.head = HeadOfOwnError(connection->server()->config->settings(), answer.head);
      writer->WriteAnswer(connection, named);
    } else {
      writer->WriteAnswer(connection, answer);
    }
    return AnswerOutcome::kGiven;
  }
  counters_.Add(LaneCounter::kReset);
  writer->ResetRequest(connection, answer.may_retry);
  return AnswerOutcome::kReset;
}

std::string_view NativeAnswers::HeadOfOwnError(const ServerSettings& settings,
                                               std::string_view head) {
  constexpr std::string_view kLineEnd = "\r\n";
  const size_t status_line = head.find(kLineEnd) + kLineEnd.size();
  error_head_.assign(head.substr(0, status_line));
  error_head_.append("Date: ").append(date_.At(std::time(nullptr))).append(kLineEnd);
  if (settings.server_header) error_head_.append("Server: httpsys").append(kLineEnd);
  error_head_.append(head.substr(status_line));
  return error_head_;
}

void NativeAnswers::CountRefusedBody(const Connection* connection, bool is_answered) {
  constexpr auto kKind = records::ErrorKind::kBodyTooLarge;
  counters_.Add(LaneCounter::kRefused);
  if (!is_answered) counters_.Add(LaneCounter::kReset);
  Log(connection, nullptr, is_answered ? StatusFor(kKind) : 0, ReasonFor(kKind, true));
}

void NativeAnswers::CountSlowReader(const Connection* connection) {
  counters_.Add(LaneCounter::kSlowReaders);
  Log(connection, nullptr, 0, "Timer_MinBytesPerSecond");
}

void NativeAnswers::CountRefusedConnection(int fd, const LaneServer& server) {
  counters_.Add(LaneCounter::kTooManyConnections);
  CountUnserved(RouteStatus::kTooManyConnections);
  ErrorLog& log = ErrorLog::Instance();
  if (!log.is_on()) return;
  LogRecord record;
  record.fd = fd;
  record.reason = ReasonFor(RouteStatus::kTooManyConnections);
  record.server_id = server.id;
  if (!log.Write(record)) has_dropped_lines_ = true;
}

void NativeAnswers::CountUnserved(RouteStatus status) {
  if (!IsNoticed(status)) return;
  ++refusals_[static_cast<size_t>(status)];
  has_refusals_ = true;
}

bool NativeAnswers::TakeUntold() {
  bool has_untold = std::exchange(has_dropped_lines_, false);
  if (std::exchange(has_refusals_, false)) {
    has_untold |= RefusalNotice::Instance().Add(std::exchange(refusals_, {}));
  }
  return has_untold;
}

void NativeAnswers::Append(Connection* connection, const NativeAnswer& answer) {
  if (batched_ != connection && batched_ != nullptr) Flush(batched_);
  batched_ = connection;
  const size_t before = batch_.size();
  const size_t bytes_before = batch_bytes_;
  if (answer.names_connection) {
    batch_.append(answer.head);
  } else {
    constexpr std::string_view kEnd = "\r\n";
    batch_.append(answer.head.substr(0, answer.head.size() - kEnd.size()));
    batch_.append(answer.closes
                      ? kCloseLine
                      : std::string_view(connection->server()->config->keep_alive_lines()));
    batch_.append(kEnd);
  }
  batch_bytes_ += batch_.size() - before;
  for (const NativeAnswer::Piece& piece : answer.pieces) {
    if (piece.file != nullptr) {
      batch_bytes_ += piece.file->bytes;
      owned_.push_back({batch_.size(), piece});
      continue;
    }
    if (piece.bytes.empty()) continue;
    batch_bytes_ += piece.bytes.size();
    const bool is_lent = piece.owner == nullptr && piece.bytes.size() >= kLentBytesMin;
    has_lent_ = has_lent_ || is_lent;
    if (piece.owner != nullptr || is_lent) {
      owned_.push_back({batch_.size(), piece});
    } else {
      batch_.append(piece.bytes);
    }
  }
  Announcer::CountUnseen(connection, 0, batch_bytes_ - bytes_before);
}

void NativeAnswers::Send(Connection* connection) {
  if (batched_ != connection || is_batch_sent_) return;
  is_batch_sent_ = true;
  const std::string_view text = batch_;
  size_t sent = 0;
  for (OwnedPiece& owned : owned_) {
    if (owned.text_bytes != sent) {
      output_->Send(connection, text.substr(sent, owned.text_bytes - sent), 0);
    }
    if (owned.piece.file != nullptr) {
      output_->SendFile(connection, OutputQueue::kNoBlock, std::move(owned.piece.file));
    } else if (owned.piece.owner != nullptr) {
      output_->SendShared(connection, std::move(owned.piece.owner), owned.piece.bytes, 0);
    } else {
      output_->Send(connection, owned.piece.bytes, 0, owned.piece.lender);
    }
    sent = owned.text_bytes;
  }
  if (sent != text.size()) output_->Send(connection, text.substr(sent), 0);
}

void NativeAnswers::EndAnswer(Connection* connection, bool must_leave) {
  const bool is_full =
      batch_bytes_ + OutputPass::UnsentBytes(*connection) > limits::kUnsentBytesMax;
  if (must_leave || is_full || has_lent_) Flush(connection);
}

void NativeAnswers::Flush(Connection* connection) {
  if (batched_ != connection) return;
  if (connection->is_open()) {
    if (owned_.empty() && !is_batch_sent_) {
      output_->SendNow(connection, batch_);
    } else {
      Send(connection);
      output_->Flush(connection);
    }
  }
  batched_ = nullptr;
  ++batch_number_;
  is_batch_sent_ = false;
  has_lent_ = false;
  batch_.clear();
  owned_.clear();
  batch_bytes_ = 0;
  if (batch_.capacity() > kKeptBytesMax) batch_.shrink_to_fit();
}

void NativeAnswers::Log(const Connection* connection, const http1::RequestHead* head, int status,
                        std::string_view reason) {
  ErrorLog& log = ErrorLog::Instance();
  if (!log.is_on()) return;
  const RelayOrigin* origin = connection->origin();
  const bool is_stream = IsStream(*connection);
  LogRecord record;
  if (origin != nullptr) {
    record.addresses = &origin->addresses;
  } else {
    record.fd =
        connection->stream == nullptr ? connection->fd : connection->stream->state->connection->fd;
  }
  record.status = status;
  record.reason = reason;
  record.server_id = connection->server()->id;
  if (head != nullptr) {
    record.version_major = is_stream ? 2 : 1;
    record.version_minor = is_stream ? 0 : head->version_minor;
    record.method = methods_->Name(head->method);
    record.target = head->target;
  }
  if (!log.Write(record)) has_dropped_lines_ = true;
}

}  // namespace httpsys::engine
