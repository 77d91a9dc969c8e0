#include "engine/http1/http1_session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "engine/connection/announcer.h"
#include "engine/connection/messages.h"
#include "engine/connection/sharing_marks.h"
#include "http2/frame_walker.h"
#include "url/url_path.h"

namespace httpsys::engine {
namespace {

using http1::BodyKind;
using http1::ParseStatus;
using records::ErrorKind;

uint32_t FlagsOf(const http1::RequestHead& head) {
  uint32_t flags = 0;
  if (head.keep_alive) flags |= records::kFlagKeepAlive;
  if (head.upgrade) flags |= records::kFlagUpgrade;
  if (head.has_host) flags |= records::kFlagHasHost;
  if (head.expect == http1::Expectation::kContinue) flags |= records::kFlagExpectContinue;
  if (head.expect == http1::Expectation::kOther) flags |= records::kFlagExpectOther;
  if (head.body == BodyKind::kChunked) flags |= records::kFlagChunked;
  const bool has_body = head.body == BodyKind::kChunked ||
                        (head.body == BodyKind::kLength && head.content_length != 0);
  return flags | (has_body ? records::kFlagHasBody : records::kFlagComplete);
}

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
                           RequestRouter* router, Http2Entry* http2, RequestGate* gate,
                           NativeAnswers* answers, Exchanges* exchanges, StaticRequests* statics,
                           CachedAnswers* cached, PassClock* clock)
    : methods_(methods),
      transport_(transport),
      output_(transport->output()),
      input_(input),
      router_(router),
      http2_(http2),
      gate_(gate),
      answers_(answers),
      exchanges_(exchanges),
      statics_(statics),
      cached_(cached),
      clock_(clock),
      refusals_(transport, input, router, answers),
      bodies_(transport, exchanges, answers, &refusals_),
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
      refusals_.RefuseMore(connection, input);
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
  if (connection->message.parser() != nullptr && phase == InputPhase::kHead) {
    const auto partial = Input::TakeKept(connection);
    refusals_.Refuse(connection, ErrorKind::kIncomplete,
                     partial == nullptr ? "" : std::string_view(*partial));
  } else if (phase == InputPhase::kBodyLength || phase == InputPhase::kBodyChunked) {
    refusals_.Refuse(connection, ErrorKind::kIncomplete, {}, Http1Bodies::Position(*connection));
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
  // A head that has begun is read on in spite of unsent output, because its timeout runs.
  if (parser == nullptr && OutputPass::IsBehind(*connection)) {
    SocketWatch::Pause(connection, kPauseOutput);
    return Advance::kWait;
  }
  Advance begun = Advance::kWait;
  if (!connection->message.has_served() && BeginHttp2(connection, input, &begun)) return begun;
  ParseStatus status = ParseStatus::kDone;
  bool is_repeated = false;
  if (parser != nullptr) {
    status = parser->Parse(input);
  } else {
    parser = parser_.get();
    is_repeated = parser->Repeat(input, settings.header_bytes_max, settings.header_lines_max);
    if (!is_repeated) {
      parser->Reset(settings.header_bytes_max, settings.header_lines_max);
      status = parser->Parse(input);
    }
  }
  if (status == ParseStatus::kNeedMore) return KeepHead(connection, input, used);
  if (!is_repeated) parser->set_number(++last_number_);
  head_number_ = parser->number();
  if (connection->is_timer_running()) transport_->StopTimer(connection);
  // The record needs the parser's views, so the parser lives until the record is written.
  std::unique_ptr<http1::RequestParser> lent = Messages::TakeParser(connection);
  Advance advance = Advance::kWait;
  if (status == ParseStatus::kError && IsBehindRelayed(*connection)) {
    KeepForLater(connection, kPauseOrder, used);
  } else if (status == ParseStatus::kError) {
    refusals_.Refuse(connection,
                     parser->error() == http1::ParseError::kHeaderOverflow
                         ? ErrorKind::kHeaderOverflow
                         : ErrorKind::kMalformed,
                     input);
  } else {
    if (lent == nullptr) Messages::Begin(connection, clock_->Ns());
    *used = parser->head_bytes();
    if (lent == nullptr && *used < input.size()) parser->Remember(input);
    Announcer::CountUnseen(connection, *used, 0);
    advance = DeliverHead(connection, parser->head(), input, used);
  }
  if (lent != nullptr && parsers_.size() < limits::kSpareParsersMax) {
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
  Messages::Begin(connection, clock_->Ns());
  Messages::LendParser(connection, std::move(parser_));
  parser_ = TakeParser();
  return Advance::kWait;
}

Protocol::Advance Http1Session::DeliverHead(Connection* connection, const http1::RequestHead& head,
                                            std::string_view input, size_t* used) {
  if (head.lines.size() > limits::kRequestLinesMax) {
    if (IsBehindRelayed(*connection)) {
      KeepForLater(connection, kPauseOrder, used);
      return Advance::kWait;
    }
    refusals_.Refuse(connection, ErrorKind::kHeaderOverflow, input);
    return Advance::kWait;
  }
  Route route{RouteStatus::kMatch, 0};
  const bool is_shared = router_->MustRoute(connection);
  Advance advance = Advance::kWait;
  if (is_shared && !FindServer(connection, head, input, &route, used, &advance)) return advance;
  const ServerConfig& config = *connection->server()->config;
  if (!is_shared) {
    route = config.FindPrefix(connection->local_port, head, connection->local_ip);
    if (route.status != RouteStatus::kMatch) {
      return AnswerUnrouted(connection, head, route.status, used);
    }
  }
  const uint64_t body_max = config.settings().body_bytes_max;
  if (body_max != 0 && head.body == BodyKind::kLength && head.content_length > body_max) {
    refusals_.Refuse(connection, ErrorKind::kBodyTooLarge, input);
    return Advance::kWait;
  }
  if (!output_->throttle()->Begin(connection, route.id)) {
    KeepForLater(connection, kPauseOrder, used);
    return Advance::kWait;
  }
  RouteStatus admitted = RequestGate::Admit(connection, head.target, route.id);
  if (admitted == RouteStatus::kMatch) {
    if (AnswerAlone(connection, head, route.id, used, &advance)) return advance;
    admitted = RequestGate::AdmitToQueue(connection);
  }
  if (admitted != RouteStatus::kMatch) return AnswerUnrouted(connection, head, admitted, used);
  if (gate_->Parks(connection, route)) {
    KeepForLater(connection, kPauseMemory, used);
    return Advance::kWait;
  }
  router_->CountRequest(connection, route.id);
  Announcer::UncountUnseen(connection, *used);
  Announcer::TellUnseen(connection);
  RecordWriter::Request request;
  request.slot = connection->slot.number();
  request.server_id = connection->server()->id;
  request.prefix_id = route.id;
  request.flags = FlagsOf(head) | RequestGate::ClaimFlag(connection, route);
  if (connection->origin() != nullptr && connection->origin()->is_stream) {
    request.flags |= records::kFlagRelayedStream;
  }
  request.arrival_ns = clock_->Ns();
  request.head_bytes = *used;
  Messages::OnHead(connection, !head.keep_alive);
  cached_->OnDelivered(connection);
  const std::string_view rest = input.substr(*used);
  if (head.upgrade) {
    request.body = rest;
    connection->attachment().records().RequestHead(head, request);
    gate_->AddUnread(connection, head, route, input.substr(0, *used));
    Messages::SetDeclinedPhase(connection, exchanges_->BeginBody(connection, head));
    connection->Enter(InputPhase::kAwaitUpgrade);
    Input::SetGiven(connection, rest.size());
    Messages::StopTime(connection);
    SocketWatch::Pause(connection, kPauseUpgrade);
    return Advance::kWait;
  }
  size_t body_used = 0;
  const bool has_body = (request.flags & records::kFlagHasBody) != 0;
  if (head.body == BodyKind::kLength && head.content_length <= rest.size() &&
      head.content_length <= limits::kInlineBodyBytesMax) {
    request.body = rest.substr(0, head.content_length);
    request.flags |= records::kFlagComplete;
    *used += request.body.size();
  } else if (head.body == BodyKind::kChunked &&
             bodies_.DecodeInline(rest, &request.body, &body_used) &&
             (body_max == 0 || request.body.size() <= body_max)) {
    request.flags |= records::kFlagComplete;
    *used += body_used;
  } else if (has_body) {
    connection->Enter(exchanges_->BeginBody(connection, head));
    request.body = bodies_.TakeFirstPiece(connection, rest, used);
  }
  const bool is_complete = (request.flags & records::kFlagComplete) != 0;
  // A request whose body has not ended must stay here: its later bytes come to this process.
  route.has_others = route.has_others && is_complete;
  connection->attachment().records().RequestHead(cached_->HeadFor(connection, head), request);
  gate_->AddUnread(connection, head, route, input.substr(0, *used));
  if (is_complete) exchanges_->MessageDone(connection);
  return Advance::kGoOn;
}

bool Http1Session::FindServer(Connection* connection, const http1::RequestHead& head,
                              std::string_view input, Route* route, size_t* used,
                              Advance* advance) {
  *advance = Advance::kWait;
  switch (router_->FindServer(connection, head, input, *used, route)) {
    case RequestRouter::Outcome::kHere:
      return true;
    case RequestRouter::Outcome::kUnrouted:
      *advance = AnswerUnrouted(connection, head, route->status, used);
      return false;
    case RequestRouter::Outcome::kLater:
    case RequestRouter::Outcome::kWaiting:
      KeepForLater(connection, kPauseOrder, used);
      return false;
    case RequestRouter::Outcome::kElsewhere:
      return false;
    case RequestRouter::Outcome::kRelayed:
      // The rest of the input goes to the member at once, but waits for its decision about an
      // upgrade.
      if (connection->phase() != InputPhase::kRelayUpgrade) *advance = Advance::kGoOn;
      return false;
    case RequestRouter::Outcome::kAnswered:
      // The answer may have ended the connection.
      if (!connection->is_open()) return false;
      SharingMarks::ForgetMoves(connection);
      *advance = GoOn(connection, head, MayKeepAlive(connection, head));
      return false;
  }
  return false;
}

// Pauses the input until `reason` is removed. The request's head is parsed again then.
void Http1Session::KeepForLater(Connection* connection, PauseReason reason, size_t* used) {
  SocketWatch::Pause(connection, reason);
  Messages::StopTime(connection);
  Announcer::UncountUnseen(connection, *used);
  *used = 0;
}

bool Http1Session::MayKeepAlive(const Connection* connection,
                                const http1::RequestHead& head) const {
  const bool is_expected =
      head.expect != http1::Expectation::kNone && head.body != http1::BodyKind::kNone;
  // A closed server keeps the connection alive if the port has other members, which get it when it
  // is idle.
  const bool is_last =
      connection->server()->is_unlistened && !router_->IsShared(connection->local_port);
  // A relayed upgrade is not kept alive: the member that has the client waits for the decision.
  const bool is_undecided = head.upgrade && connection->origin() != nullptr;
  return head.keep_alive && !head.is_connect && !is_undecided && !is_expected && !is_last &&
         head.content_length <= limits::kLingerBytesMax;
}

Protocol::Advance Http1Session::GoOn(Connection* connection, const http1::RequestHead& head,
                                     bool keep_alive) {
  if (!keep_alive || !connection->is_open()) return Advance::kWait;
  Messages::SetServed(connection);
  Messages::SetLast(connection, false);
  ConnectionTimers::LimitIdle(connection);
  const InputPhase body = exchanges_->BeginBody(connection, head);
  if (body == InputPhase::kHead) {
    exchanges_->MessageDone(connection);
  } else {
    connection->Enter(body == InputPhase::kBodyLength ? InputPhase::kSkipLength
                                                      : InputPhase::kSkipChunked);
  }
  return Advance::kGoOn;
}

bool Http1Session::AnswerAlone(Connection* connection, const http1::RequestHead& head,
                               uint32_t prefix_id, size_t* used, Advance* advance) {
  const bool keep_alive = MayKeepAlive(connection, head);
  StaticRequests::Outcome outcome =
      statics_->Serve(&refusals_, connection, head, prefix_id, !keep_alive);
  if (outcome == StaticRequests::Outcome::kNone) {
    outcome = cached_->Answer(&refusals_, connection, head, prefix_id, !keep_alive, head_number_);
  }
  switch (outcome) {
    case StaticRequests::Outcome::kNone:
      return false;
    case StaticRequests::Outcome::kGiven:
      SharingMarks::ForgetMoves(connection);
      *advance = GoOn(connection, head, keep_alive);
      return true;
    case StaticRequests::Outcome::kLater:
    case StaticRequests::Outcome::kWaiting:
      KeepForLater(connection, kPauseOrder, used);
      *advance = Advance::kWait;
      return true;
  }
  return false;
}

// Answers a request without an owner, as HTTP.SYS does, or one that its server refuses.
Protocol::Advance Http1Session::AnswerUnrouted(Connection* connection,
                                               const http1::RequestHead& head, RouteStatus status,
                                               size_t* used) {
  const bool is_refused = status == RouteStatus::kBadUrl || status == RouteStatus::kBadHost ||
                          status == RouteStatus::kTooManyConnections;
  // An upgrade that gets this answer ends the connection as well: its client has no further use for
  // it.
  const bool keep_alive = !is_refused && !head.upgrade && MayKeepAlive(connection, head);
  NativeAnswers::Unserved request{status, &head};
  request.closes = !keep_alive;
  const AnswerOutcome outcome = answers_->AnswerUnserved(&refusals_, connection, request);
  if (outcome == AnswerOutcome::kLater) {
    KeepForLater(connection, kPauseOrder, used);
    return Advance::kWait;
  }
  SharingMarks::ForgetMoves(connection);
  if (outcome == AnswerOutcome::kReset) return Advance::kWait;
  return GoOn(connection, head, keep_alive);
}

// llhttp refuses anything but line ends after a request that closes the connection.
Protocol::Advance Http1Session::ReadAfterClose(Connection* connection, std::string_view input,
                                               size_t* used) {
  *used = input.size();
  // If another member still answers, ignore the bytes: its answer ends the connection as well.
  const bool is_ignored =
      input.find_first_not_of("\r\n") == std::string_view::npos || IsBehindRelayed(*connection);
  if (is_ignored) return Advance::kGoOn;
  refusals_.Refuse(connection, ErrorKind::kDataAfterClose, input);
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
  Messages::SetUnanswered(connection, 0);
  if (connection->input.partial() != nullptr)
    Input::DropKept(connection, connection->input.given_bytes());
  Messages::DropDecoder(connection);
  if (!is_undecided) Input::SetGiven(connection, 0);
  input_->Resume(connection, kPauseUpgrade);
}

void Http1Session::OnUpgradeDecline(Connection* connection) {
  if (connection->phase() != InputPhase::kAwaitUpgrade) return;
  if (connection->origin() != nullptr) router_->OnRelayedUpgrade(connection, false);
  Input::SetGiven(connection, 0);
  connection->Enter(connection->message.declined_phase());
  if (connection->phase() == InputPhase::kHead) {
    exchanges_->MessageDone(connection);
  } else {
    Messages::Begin(connection, clock_->Ns());
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
  Messages::StopTime(connection);
  transport_->StopTimer(connection);
  Messages::Refuse(connection, ErrorKind::kBodyTooLarge);
  // JavaScript acknowledges no bytes of a refused body.
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
  const auto partial = Input::TakeKept(connection);
  refusals_.Refuse(connection, ErrorKind::kTimeout,
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
