#include "engine/http1/http1_session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "engine/connection/announcer.h"
#include "http2/frame_walker.h"
#include "url/url_path.h"

namespace httpsys::engine {
namespace {

using http1::BodyKind;
using http1::ParseStatus;
using records::ErrorKind;

// Returns true if JavaScript knows the connection but no request of it. JavaScript ends such a
// connection itself, so that 'connection' is emitted before the client sees the end.
bool IsJustOpened(const Connection& connection) {
  return connection.slot.is_announced() && !connection.message.has_served() &&
         connection.tls == nullptr;
}

// Returns true if another member may be sending answers to earlier requests. JavaScript does not
// see these answers, so it must not refuse a message now: the refusal would get between their
// bytes.
bool IsBehindRelayed(const Connection& connection) {
  return connection.relay() != nullptr && connection.message.unanswered() != 0;
}

}  // namespace

Http1Session::Http1Session(const http1::MethodTable* methods, Transport* transport, Input* input,
                           RequestRouter* router, Http2Entry* http2, NativeAnswers* answers,
                           Exchanges* exchanges, RequestPipeline* pipeline, PassClock* clock)
    : methods_(methods),
      transport_(transport),
      output_(transport->output()),
      input_(input),
      router_(router),
      http2_(http2),
      answers_(answers),
      exchanges_(exchanges),
      pipeline_(pipeline),
      clock_(clock),
      writer_(transport, input, router, answers),
      bodies_(transport, exchanges, answers, &writer_),
      replies_(transport, input, exchanges, router),
      parser_(std::make_unique<http1::RequestParser>(methods)) {}

// -- Reading.

std::span<char> Http1Session::Room(Connection* connection, std::span<char> shared) {
  const bool is_body = connection->phase() == InputPhase::kBodyLength ||
                       connection->phase() == InputPhase::kBodyChunked;
  return is_body ? bodies_.Room(connection, shared) : shared;
}

Protocol::Advance Http1Session::OnReadable(Connection* connection, std::string_view input,
                                           size_t* used) {
  switch (connection->phase()) {
    case InputPhase::kHead:
      return ReadHead(connection, input, used);
    case InputPhase::kBodyLength:
      return bodies_.ReadLength(connection, input, used);
    case InputPhase::kBodyChunked:
      return bodies_.ReadChunked(connection, input, used);
    case InputPhase::kSkipLength:
      return bodies_.SkipLength(connection, input, used);
    case InputPhase::kSkipChunked:
      return bodies_.SkipChunked(connection, input, used);
    case InputPhase::kAfterClose:
      return ReadAfterClose(connection, input, used);
    case InputPhase::kRefused:
      writer_.RefuseMore(connection, input);
      return Advance::kWait;
    default:
      return Advance::kWait;
  }
}

void Http1Session::OnEof(Connection* connection) {
  transport_->OnPeerEnded(connection);
  const InputPhase phase = connection->phase();
  if (router_->RelayEnd(connection)) {
    // The member that answers decides what the client's end means.
    connection->Enter(InputPhase::kOver);
    return;
  }
  // For a relayed HTTP/2 stream that is no tunnel, only a reset ends the client's direction.
  const bool is_stream = connection->origin() != nullptr && connection->origin()->is_stream;
  if (is_stream) return transport_->Close(connection, 0);
  if (phase == InputPhase::kRefused) {
    connection->attachment().records().Eof(connection->slot.number());
    if (connection->end.is_fin_sent()) transport_->Close(connection, 0);
    return;
  }
  connection->Enter(InputPhase::kOver);
  TellEnd(connection, phase);
  // Both directions have ended, and JavaScript expects this close.
  if (connection->end.is_fin_sent()) transport_->Close(connection, 0);
}

void Http1Session::TellEnd(Connection* connection, InputPhase phase) {
  if (connection->message.is_head_begun() && phase == InputPhase::kHead) {
    const auto partial = connection->input.TakeKept();
    writer_.Refuse(connection, ErrorKind::kIncomplete,
                   partial == nullptr ? "" : std::string_view(*partial));
  } else if (phase == InputPhase::kBodyLength || phase == InputPhase::kBodyChunked) {
    writer_.Refuse(connection, ErrorKind::kIncomplete, {}, Http1Bodies::Position(*connection));
  } else if ((connection->message.unanswered() != 0 || IsJustOpened(*connection)) &&
             !connection->end.is_fin_sent()) {
    connection->attachment().records().Eof(connection->slot.number());
  } else {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    output_->Flush(connection);
  }
}

// -- Heads.

Protocol::Advance Http1Session::ReadHead(Connection* connection, std::string_view input,
                                         size_t* used) {
  const ServerSettings& settings = connection->server()->config->settings();
  if (connection->message.unanswered() >= settings.pipelined_requests_max) {
    SocketWatch::Pause(connection, kPausePipeline);
    return Advance::kWait;
  }
  http1::RequestParser* parser = connection->message.parser();
  const bool is_begun = connection->message.is_head_begun();
  const bool is_waiting = parser != nullptr && !is_begun;
  // A head that has begun is read on in spite of unsent output, because its timeout runs.
  if (!is_begun && OutputPass::IsBehind(*connection)) {
    SocketWatch::Pause(connection, kPauseOutput);
    return Advance::kWait;
  }
  Advance begun = Advance::kWait;
  if (!connection->message.has_served() && BeginHttp2(connection, input, &begun)) return begun;
  ParseStatus status = ParseStatus::kDone;
  bool is_repeated = false;
  if (is_waiting && parser->HasLimits(settings.max_header_size, settings.max_header_lines)) {
    status = parser->View(input);
  } else if (is_waiting) {
    // The connection got a server with other limits after the head was parsed: parse it again.
    parser->Reset(settings.max_header_size, settings.max_header_lines);
    status = parser->Parse(input);
  } else if (is_begun) {
    status = parser->Parse(input);
  } else {
    parser = parser_.get();
    is_repeated = parser->Repeat(input, settings.max_header_size, settings.max_header_lines);
    if (!is_repeated) {
      parser->Reset(settings.max_header_size, settings.max_header_lines);
      status = parser->Parse(input);
    }
  }
  if (status == ParseStatus::kNeedMore) return KeepHead(connection, input, used);
  if (!is_repeated && !is_waiting) parser->set_number(++last_number_);
  if (connection->is_timer_running()) transport_->StopTimer(connection);
  // The record needs the parser's views, so the parser lives until the record is written.
  std::unique_ptr<http1::RequestParser> lent = connection->message.TakeParser();
  Advance advance = Advance::kWait;
  PauseReason reason{};
  if (status == ParseStatus::kError && IsBehindRelayed(*connection)) {
    reason = kPauseOrder;
  } else if (status == ParseStatus::kError) {
    writer_.Refuse(connection,
                   parser->error() == http1::ParseError::kHeaderOverflow
                       ? ErrorKind::kHeaderOverflow
                       : ErrorKind::kMalformed,
                   input);
  } else {
    if (!is_begun) connection->message.Begin(clock_->Ns());
    *used = parser->head_bytes();
    if (lent == nullptr && *used < input.size()) parser->Remember(input);
    Announcer::CountUnseen(connection, *used, 0);
    ArrivedRequest request{&writer_, connection, parser->head(), *used, input, parser->number()};
    advance = HandleHead(&request, used, &reason);
    if (reason != 0) Announcer::UncountUnseen(connection, std::exchange(*used, 0));
  }
  if (reason != 0) {
    KeepParsed(connection, std::move(lent), reason);
  } else if (lent != nullptr && parsers_.size() < limits::kSpareParsersMax) {
    parsers_.push_back(std::move(lent));
  }
  return advance;
}

bool Http1Session::BeginHttp2(Connection* connection, std::string_view input, Advance* advance) {
  const Http2Settings& settings = connection->server()->config->settings().http2;
  const bool is_stream = connection->origin() != nullptr && connection->origin()->is_stream;
  if (connection->message.parser() != nullptr || is_stream) return false;
  const bool is_secure = connection->tls != nullptr;
  if (is_secure ? connection->tls->alpn() != "h2" : !settings.is_plain) return false;
  if (!is_secure && !settings.is_alone) {
    const size_t bytes = std::min(input.size(), http2::kPreface.size());
    if (http2::kPreface.substr(0, bytes) != input.substr(0, bytes)) return false;
    if (bytes < http2::kPreface.size()) return true;
  }
  if (!http2_->Begin(connection)) return false;
  *advance = Advance::kGoOn;
  return true;
}

Protocol::Advance Http1Session::KeepHead(Connection* connection, std::string_view input,
                                         size_t* used) {
  const bool is_lent = connection->message.parser() != nullptr;
  if (!(is_lent ? connection->message.parser() : parser_.get())->started()) {
    // Only line ends have arrived, which may precede a message: there is nothing to keep.
    *used = input.size();
    return Advance::kWait;
  }
  if (is_lent) return Advance::kWait;
  transport_->StopTimer(connection);
  connection->message.Begin(clock_->Ns());
  connection->message.LendParser(std::move(parser_));
  parser_ = TakeParser();
  return Advance::kWait;
}

// Pauses the input until `reason` is removed. The connection keeps the parsed head until then,
// unless the head has so many lines that its views would take more memory than its bytes.
void Http1Session::KeepParsed(Connection* connection, std::unique_ptr<http1::RequestParser> parser,
                              PauseReason reason) {
  SocketWatch::Pause(connection, reason);
  connection->message.StopTime();
  const http1::RequestParser* parsed = parser == nullptr ? parser_.get() : parser.get();
  if (parsed->head().lines.size() > limits::kKeptHeadLinesMax) return;
  if (parser == nullptr) {
    parser = std::move(parser_);
    parser_ = TakeParser();
  }
  connection->message.LendParser(std::move(parser));
}

// Handles a head that was read. Sets *reason if the request must wait.
Protocol::Advance Http1Session::HandleHead(ArrivedRequest* request, size_t* used,
                                           PauseReason* reason) {
  Connection* connection = request->connection;
  if (request->head.lines.size() > limits::kRequestLinesMax) {
    if (IsBehindRelayed(*connection)) {
      *reason = kPauseOrder;
    } else {
      writer_.Refuse(connection, ErrorKind::kHeaderOverflow, request->input);
    }
    return Advance::kWait;
  }
  switch (pipeline_->Take(request)) {
    case RequestPipeline::Next::kDeliver:
      return Deliver(request, used);
    case RequestPipeline::Next::kAnswered:
      connection->sharing.ForgetMoves();
      return GoOn(*request);
    case RequestPipeline::Next::kTooLarge:
      writer_.Refuse(connection, ErrorKind::kBodyTooLarge, request->input);
      return Advance::kWait;
    case RequestPipeline::Next::kWaitTurn:
      *reason = kPauseOrder;
      return Advance::kWait;
    case RequestPipeline::Next::kWaitMemory:
      *reason = kPauseMemory;
      return Advance::kWait;
    case RequestPipeline::Next::kRelayed:
      // The rest of the input goes to the member at once, but waits for its decision about an
      // upgrade.
      return connection->phase() == InputPhase::kRelayUpgrade ? Advance::kWait : Advance::kGoOn;
    case RequestPipeline::Next::kGone:
      break;
  }
  return Advance::kWait;
}

Protocol::Advance Http1Session::Deliver(ArrivedRequest* request, size_t* used) {
  Connection* connection = request->connection;
  const http1::RequestHead& head = request->head;
  Announcer::UncountUnseen(connection, *used);
  Announcer::TellUnseen(connection);
  RecordWriter::Request record = pipeline_->BeginRecord(*request);
  if (connection->origin() != nullptr && connection->origin()->is_stream) {
    record.flags |= records::kFlagRelayedStream;
  }
  const std::string_view whole = request->input.substr(0, *used);
  const std::string_view rest = request->input.substr(*used);
  if (head.upgrade) {
    record.body = rest;
    pipeline_->Deliver(*request, record, whole);
    connection->message.SetDeclinedPhase(exchanges_->BeginBody(connection, head));
    connection->Enter(InputPhase::kAwaitUpgrade);
    connection->input.SetGiven(rest.size());
    connection->message.StopTime();
    SocketWatch::Pause(connection, kPauseUpgrade);
    return Advance::kWait;
  }
  const uint64_t body_max = connection->server()->config->settings().max_request_body_size;
  size_t body_used = 0;
  const bool has_body = (record.flags & records::kFlagHasBody) != 0;
  if (head.body == BodyKind::kLength && head.content_length <= rest.size() &&
      head.content_length <= limits::kInlineBodyBytesMax) {
    record.body = rest.substr(0, head.content_length);
    record.flags |= records::kFlagComplete;
    *used += record.body.size();
  } else if (head.body == BodyKind::kChunked &&
             bodies_.DecodeInline(rest, &record.body, &body_used) &&
             (body_max == 0 || record.body.size() <= body_max)) {
    record.flags |= records::kFlagComplete;
    *used += body_used;
  } else if (has_body) {
    connection->Enter(exchanges_->BeginBody(connection, head));
    record.body = bodies_.TakeFirstPiece(connection, rest, used);
  }
  const bool is_complete = (record.flags & records::kFlagComplete) != 0;
  // A request whose body has not ended must stay here: its later bytes come to this process.
  request->route.has_others = request->route.has_others && is_complete;
  pipeline_->Deliver(*request, record, request->input.substr(0, *used));
  if (is_complete) exchanges_->MessageDone(connection);
  return Advance::kGoOn;
}

// Continues after an answer of the lane itself, by reading the request's body or the next request.
Protocol::Advance Http1Session::GoOn(const ArrivedRequest& request) {
  Connection* connection = request.connection;
  if (request.closes || !connection->is_open()) return Advance::kWait;
  connection->message.SetServed();
  connection->message.SetLast(false);
  ConnectionTimers::LimitIdle(connection);
  const InputPhase body = exchanges_->BeginBody(connection, request.head);
  if (body == InputPhase::kHead) {
    exchanges_->MessageDone(connection);
  } else {
    connection->Enter(body == InputPhase::kBodyLength ? InputPhase::kSkipLength
                                                      : InputPhase::kSkipChunked);
  }
  return Advance::kGoOn;
}

// llhttp refuses anything but line ends after a request that closes the connection.
Protocol::Advance Http1Session::ReadAfterClose(Connection* connection, std::string_view input,
                                               size_t* used) {
  *used = input.size();
  // If another member still answers, ignore the bytes: its answer ends the connection as well.
  const bool is_ignored =
      input.find_first_not_of("\r\n") == std::string_view::npos || IsBehindRelayed(*connection);
  if (is_ignored) return Advance::kGoOn;
  writer_.Refuse(connection, ErrorKind::kDataAfterClose, input);
  return Advance::kWait;
}

// -- Decisions of JavaScript.

bool Http1Session::OnReply(Connection* connection, const ReplyRecord& reply) {
  switch (reply.type()) {
    case records::ReplyType::kUpgradeAccept:
      OnUpgradeAccept(connection, reply.has(records::kReplyUndecided));
      return true;
    case records::ReplyType::kUpgradeDecline:
      OnUpgradeDecline(connection);
      return true;
    case records::ReplyType::kRefuseBody:
      OnRefuseBody(connection, reply);
      return true;
    default:
      return replies_.OnReply(connection, reply);
  }
}

void Http1Session::OnUpgradeAccept(Connection* connection, bool is_undecided) {
  if (connection->phase() != InputPhase::kAwaitUpgrade) return;
  if (connection->origin() != nullptr) router_->OnRelayedUpgrade(connection, true);
  connection->Enter(is_undecided ? InputPhase::kUndecided : InputPhase::kOpaque);
  connection->message.SetUnanswered(0);
  if (connection->input.partial() != nullptr)
    connection->input.DropKept(connection->input.given_bytes());
  connection->message.DropDecoder();
  if (!is_undecided) connection->input.SetGiven(0);
  input_->Resume(connection, kPauseUpgrade);
}

void Http1Session::OnUpgradeDecline(Connection* connection) {
  if (connection->phase() != InputPhase::kAwaitUpgrade) return;
  if (connection->origin() != nullptr) router_->OnRelayedUpgrade(connection, false);
  connection->input.SetGiven(0);
  connection->Enter(connection->message.declined_phase());
  if (connection->phase() == InputPhase::kHead) {
    exchanges_->MessageDone(connection);
  } else {
    connection->message.Begin(clock_->Ns());
  }
  input_->Resume(connection, kPauseUpgrade);
}

// The refused request may already be complete, and later requests may have been read: JavaScript
// drops them.
void Http1Session::OnRefuseBody(Connection* connection, const ReplyRecord& reply) {
  if (reply.has(records::kReplyLogged)) {
    answers_->CountRefusedBody(connection, !reply.has(records::kReplyUnanswered));
  }
  switch (connection->phase()) {
    case InputPhase::kHead:
    case InputPhase::kBodyLength:
    case InputPhase::kBodyChunked:
    case InputPhase::kAfterClose:
      break;
    default:
      return;
  }
  connection->message.StopTime();
  transport_->StopTimer(connection);
  connection->Refuse(ErrorKind::kBodyTooLarge);
  // Do not wait for the window: JavaScript acknowledges no bytes of a refused body.
  input_->Resume(connection, kPauseWindow);
}

// -- Time.

void Http1Session::CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns,
                                 uint64_t request_ns) {
  if (!connection->is_open() || connection->message.start_ns() == 0 ||
      connection->end.after_output() == AfterOutput::kClose) {
    return;
  }
  const uint64_t age_ns = now_ns - std::min(now_ns, connection->message.start_ns());
  const bool headers_late =
      connection->phase() == InputPhase::kHead && headers_ns != 0 && age_ns > headers_ns;
  if (!headers_late && (request_ns == 0 || age_ns <= request_ns)) return;
  if (connection->phase() == InputPhase::kSkipLength ||
      connection->phase() == InputPhase::kSkipChunked) {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    output_->Flush(connection);
    return;
  }
  const auto partial = connection->input.TakeKept();
  writer_.Refuse(connection, ErrorKind::kTimeout,
                 partial == nullptr ? "" : std::string_view(*partial));
}

void Http1Session::OnTooSlow(Connection* connection) {
  answers_->CountSlowReader(connection);
  transport_->Reset(connection, ETIMEDOUT);
}

// -- Parsers.

std::unique_ptr<http1::RequestParser> Http1Session::TakeParser() {
  if (parsers_.empty()) return std::make_unique<http1::RequestParser>(methods_);
  auto parser = std::move(parsers_.back());
  parsers_.pop_back();
  return parser;
}

}  // namespace httpsys::engine
