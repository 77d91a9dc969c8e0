// The steps of Http1Session through received bytes.

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/http1/http1_session.h"
#include "http2/upgrade.h"
#include "url/url_path.h"

namespace httpsys::engine {
namespace {

using http1::BodyKind;
using http1::DecodeStatus;
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

}  // namespace

// Returns how much of the input is done with.
size_t Http1Session::Consume(Connection* connection, std::string_view input) {
  size_t at = 0;
  while (at < input.size()) {
    const std::string_view rest = input.substr(at);
    size_t used = 0;
    Advance advance = Advance::kWait;
    switch (connection->phase) {
      case InputPhase::kHead:
        advance = ConsumeHead(connection, rest, &used);
        break;
      case InputPhase::kBodyLength:
        advance = ConsumeLength(connection, rest, &used);
        break;
      case InputPhase::kBodyChunked:
        advance = ConsumeChunked(connection, rest, &used);
        break;
      case InputPhase::kSkipLength:
        advance = SkipLength(connection, rest, &used);
        break;
      case InputPhase::kSkipChunked:
        advance = SkipChunked(connection, rest, &used);
        break;
      case InputPhase::kRelayLength:
        advance = RelayLength(connection, rest, &used);
        break;
      case InputPhase::kRelayChunked:
        advance = RelayChunked(connection, rest, &used);
        break;
      case InputPhase::kRelayOpaque:
        advance = RelayOpaque(connection, rest, &used);
        break;
      case InputPhase::kOpaque:
        advance = ConsumeOpaque(connection, rest, &used);
        break;
      case InputPhase::kAfterClose:
        advance = ConsumeAfterClose(connection, rest, &used);
        break;
      case InputPhase::kWebSocket:
        advance = ConsumeWebSocket(connection, rest, &used);
        break;
      case InputPhase::kHttp2:
        used = rest.size();
        http2_->Receive(connection, rest);
        advance = Advance::kGoOn;
        break;
      case InputPhase::kHandshake:
      case InputPhase::kAwaitUpgrade:
      case InputPhase::kRelayUpgrade:
      case InputPhase::kUndecided:
      case InputPhase::kStream:
        break;
      case InputPhase::kRefused:
        RefuseMore(connection, rest);
        break;
      case InputPhase::kOver:
        break;
    }
    if (!connection->is_open()) return input.size();
    at += used;
    const bool is_over =
        connection->phase == InputPhase::kRefused || connection->phase == InputPhase::kOver;
    if (is_over) return input.size();
    if (advance == Advance::kWait) break;
  }
  return at;
}

// -- Heads.

Http1Session::Advance Http1Session::ConsumeHead(Connection* connection, std::string_view input,
                                                size_t* used) {
  const ServerSettings& settings = connection->server->config->settings();
  if (connection->unanswered >= settings.pipelined_requests_max) {
    transport_->Pause(connection, kPausePipeline);
    return Advance::kWait;
  }
  http1::RequestParser* parser = connection->parser.get();
  // A head that has begun is read to its end: its time runs.
  if (parser == nullptr && Transport::IsBehind(*connection)) {
    transport_->Pause(connection, kPauseOutput);
    return Advance::kWait;
  }
  Advance begun = Advance::kWait;
  if (BeginHttp2(connection, input, &begun)) return begun;
  if (parser == nullptr) {
    parser = parser_.get();
    parser->Reset(settings.header_bytes_max, settings.header_lines_max);
  }
  const ParseStatus status = parser->Parse(input);
  if (status == ParseStatus::kNeedMore) return KeepHead(connection, input, used);
  if (connection->is_timer_running()) transport_->StopTimer(connection);
  // Its views are needed until the record is written.
  std::unique_ptr<http1::RequestParser> lent = std::move(connection->parser);
  Advance advance = Advance::kWait;
  if (status == ParseStatus::kError) {
    Refuse(connection,
           parser->error() == http1::ParseError::kHeaderOverflow ? ErrorKind::kHeaderOverflow
                                                                 : ErrorKind::kMalformed,
           input);
  } else {
    if (lent == nullptr) connection->message_start_ns = Now();
    *used = parser->head_bytes();
    advance = DeliverHead(connection, parser->head(), input, used);
  }
  if (lent != nullptr && parsers_.size() < limits::kSpareParsersMax) {
    parsers_.push_back(std::move(lent));
  }
  return advance;
}

bool Http1Session::BeginHttp2(Connection* connection, std::string_view input, Advance* advance) {
  const Http2Settings& settings = connection->server->config->settings().http2;
  const bool is_stream = connection->origin != nullptr && connection->origin->is_stream;
  if (connection->has_served || connection->parser != nullptr || is_stream) return false;
  const bool is_secure = connection->tls != nullptr;
  if (is_secure ? connection->tls->alpn() != "h2" : !settings.is_plain) return false;
  if (!is_secure && !settings.is_alone) {
    const size_t bytes = std::min(input.size(), Http2Session::kPreface.size());
    if (Http2Session::kPreface.substr(0, bytes) != input.substr(0, bytes)) return false;
    if (bytes < Http2Session::kPreface.size()) return true;
  }
  if (!http2_->Begin(connection)) return false;
  *advance = Advance::kGoOn;
  return true;
}

// A body that has not come with its head would have to be waited for: such a request is answered
// as any other, which RFC 7540 allows.
bool Http1Session::UpgradeToHttp2(Connection* connection, const http1::RequestHead& head,
                                  std::string_view input, size_t* used) {
  const bool may = head.upgrade && connection->server->config->settings().http2.takes_upgrade &&
                   connection->tls == nullptr && connection->origin == nullptr &&
                   !connection->has_served;
  std::string settings;
  if (!may || !http2::ReadUpgrade(head, &settings)) return false;
  const std::string_view rest = input.substr(*used);
  if (rest.size() < head.content_length) return false;
  const std::string_view body = rest.substr(0, head.content_length);
  if (!http2_->Upgrade(connection, head, settings, body)) return false;
  *used += body.size();
  return true;
}

Http1Session::Advance Http1Session::KeepHead(Connection* connection, std::string_view input,
                                             size_t* used) {
  const bool is_lent = connection->parser != nullptr;
  if (!(is_lent ? connection->parser : parser_)->started()) {
    // Only line ends before a message: nothing to remember.
    *used = input.size();
    return Advance::kWait;
  }
  if (is_lent) return Advance::kWait;
  transport_->StopTimer(connection);
  connection->message_start_ns = Now();
  connection->parser = std::move(parser_);
  parser_ = TakeParser();
  return Advance::kWait;
}

Http1Session::Advance Http1Session::DeliverHead(Connection* connection,
                                                const http1::RequestHead& head,
                                                std::string_view input, size_t* used) {
  if (head.lines.size() > UINT16_MAX) {
    Refuse(connection, ErrorKind::kHeaderOverflow, input);
    return Advance::kWait;
  }
  if (UpgradeToHttp2(connection, head, input, used)) return Advance::kGoOn;
  Route route{RouteStatus::kMatch, 0};
  const bool is_shared = router_->MustRoute(connection);
  Advance advance = Advance::kWait;
  if (is_shared && !FindServer(connection, head, input, &route, used, &advance)) return advance;
  const ServerConfig& config = *connection->server->config;
  const uint64_t body_max = config.settings().body_bytes_max;
  if (body_max != 0 && head.body == BodyKind::kLength && head.content_length > body_max) {
    Refuse(connection, ErrorKind::kBodyTooLarge, input);
    return Advance::kWait;
  }
  if (!is_shared) {
    route = config.FindPrefix(connection->local_port, head, connection->local_ip);
    if (route.status != RouteStatus::kMatch) {
      return AnswerUnrouted(connection, head, route.status, used);
    }
  }
  if (config.settings().is_url_strict && !IsStrictTarget(head.target)) {
    return AnswerUnrouted(connection, head, RouteStatus::kBadUrl, used);
  }
  LaneServer* server = connection->server;
  if (IsQueueFull(server)) return AnswerUnrouted(connection, head, RouteStatus::kQueueFull, used);
  router_->CountRequest(connection, route.id);
  RecordWriter::Request request;
  request.slot = connection->slot;
  request.server_id = connection->server->id;
  request.prefix_id = route.id;
  request.flags = FlagsOf(head);
  if (connection->origin != nullptr && connection->origin->is_stream) {
    request.flags |= records::kFlagRelayedStream;
  }
  request.arrival_ns = Now();
  request.head_bytes = *used;
  connection->has_served = true;
  connection->is_last_request = !head.keep_alive;
  ++connection->unanswered;
  const std::string_view rest = input.substr(*used);
  if (head.upgrade) {
    request.body = rest;
    records_->RequestHead(head, request);
    AddUnread(connection, head);
    BeginBody(connection, head);
    KeepRaw(connection, input.substr(0, *used));
    connection->declined_phase = connection->phase;
    connection->phase = InputPhase::kAwaitUpgrade;
    connection->given_bytes = static_cast<uint32_t>(rest.size());
    connection->message_start_ns = 0;
    transport_->Pause(connection, kPauseUpgrade);
    return Advance::kWait;
  }
  size_t body_used = 0;
  const bool has_body = (request.flags & records::kFlagHasBody) != 0;
  if (head.body == BodyKind::kLength && head.content_length <= rest.size() &&
      head.content_length <= limits::kInlineBodyBytesMax) {
    request.body = rest.substr(0, head.content_length);
    request.flags |= records::kFlagComplete;
    *used += request.body.size();
  } else if (head.body == BodyKind::kChunked && DecodeInline(rest, &request.body, &body_used) &&
             (body_max == 0 || request.body.size() <= body_max)) {
    request.flags |= records::kFlagComplete;
    *used += body_used;
  } else if (has_body) {
    BeginBody(connection, head);
    request.body = TakeFirstPiece(connection, rest, used);
  }
  records_->RequestHead(head, request);
  AddUnread(connection, head);
  if ((request.flags & records::kFlagComplete) != 0) {
    MessageDone(connection);
  } else {
    KeepRaw(connection, input.substr(0, *used));
  }
  return Advance::kGoOn;
}

// What came of a body with its head: as on Node, no tick runs between the two.
std::string_view Http1Session::TakeFirstPiece(Connection* connection, std::string_view input,
                                              size_t* used) {
  if (connection->phase == InputPhase::kBodyLength) {
    const std::string_view piece =
        input.substr(0, std::min<uint64_t>(limits::kInlineBodyBytesMax, connection->body_bytes));
    connection->body_bytes -= piece.size();
    *used += piece.size();
    return piece;
  }
  // A limit is looked after when the pieces are counted.
  const ServerSettings& settings = connection->server->config->settings();
  if (settings.body_bytes_max != 0) return {};
  const http1::ChunkedDecoder::Step step = connection->decoder->Next(input);
  if (step.status == DecodeStatus::kBody && step.body.size() <= limits::kInlineBodyBytesMax) {
    *used += step.consumed_bytes;
    connection->body_bytes += step.body.size();
    return step.body;
  }
  connection->decoder->Reset(settings.header_bytes_max, settings.header_lines_max);
  return {};
}

// A small chunked body in one piece and without trailers goes into its request's record.
bool Http1Session::DecodeInline(std::string_view input, std::string_view* body, size_t* used) {
  if (input.empty()) return false;
  std::unique_ptr<http1::ChunkedDecoder> decoder = TakeDecoder();
  decoder->Reset(0);
  *body = {};
  size_t at = 0;
  bool is_whole = false;
  for (;;) {
    const http1::ChunkedDecoder::Step step = decoder->Next(input.substr(at));
    at += step.consumed_bytes;
    if (step.status == DecodeStatus::kBody) {
      if (!body->empty() || step.body.size() > limits::kInlineBodyBytesMax) break;
      *body = step.body;
      continue;
    }
    is_whole = step.status == DecodeStatus::kEnd && decoder->trailers().empty();
    break;
  }
  *used = at;
  if (!is_whole) *body = {};
  decoders_.push_back(std::move(decoder));
  return is_whole;
}

void Http1Session::BeginBody(Connection* connection, const http1::RequestHead& head) {
  connection->body_bytes = head.body == BodyKind::kChunked ? 0 : head.content_length;
  connection->phase = InputPhase::kHead;
  if (head.body == BodyKind::kLength && head.content_length != 0) {
    connection->phase = InputPhase::kBodyLength;
  } else if (head.body == BodyKind::kChunked) {
    connection->phase = InputPhase::kBodyChunked;
    connection->decoder = TakeDecoder();
    const ServerSettings& settings = connection->server->config->settings();
    connection->decoder->Reset(settings.header_bytes_max, settings.header_lines_max);
  }
}

void Http1Session::MessageDone(Connection* connection) {
  connection->message_start_ns = 0;
  connection->phase = connection->is_last_request ? InputPhase::kAfterClose : InputPhase::kHead;
  connection->raw.reset();
  // The answer may have come before the end of the body.
  if (connection->unanswered == 0 && connection->idle_timeout_ms != 0) {
    transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
  }
  if (connection->unanswered == 0 && connection->server->is_unlistened) LookWhetherIdle(connection);
}

// -- Bodies.

Http1Session::Advance Http1Session::ConsumeLength(Connection* connection, std::string_view input,
                                                  size_t* used) {
  if (connection->window_bytes <= 0) {
    transport_->Pause(connection, kPauseWindow);
    return Advance::kWait;
  }
  TimeAnsweredBody(connection);
  const uint64_t allowed =
      std::min(static_cast<uint64_t>(connection->window_bytes), connection->body_bytes);
  const std::string_view piece = input.substr(0, allowed);
  records_->Body(connection->slot, piece);
  connection->window_bytes -= static_cast<int64_t>(piece.size());
  connection->body_bytes -= piece.size();
  *used = piece.size();
  if (connection->body_bytes == 0) {
    records_->BodyEnd(connection->slot, {});
    MessageDone(connection);
  }
  return Advance::kGoOn;
}

Http1Session::Advance Http1Session::ConsumeChunked(Connection* connection, std::string_view input,
                                                   size_t* used) {
  if (connection->window_bytes <= 0) {
    transport_->Pause(connection, kPauseWindow);
    return Advance::kWait;
  }
  TimeAnsweredBody(connection);
  const uint64_t body_max = connection->server->config->settings().body_bytes_max;
  const http1::ChunkedDecoder::Step step =
      connection->decoder->Next(input.substr(0, static_cast<size_t>(connection->window_bytes)));
  *used = step.consumed_bytes;
  switch (step.status) {
    case DecodeStatus::kNeedMore:
      KeepRaw(connection, input.substr(0, step.consumed_bytes));
      return step.consumed_bytes == 0 ? Advance::kWait : Advance::kGoOn;
    case DecodeStatus::kBody:
      connection->body_bytes += step.body.size();
      if (body_max != 0 && connection->body_bytes > body_max) {
        Refuse(connection, ErrorKind::kBodyTooLarge, {});
        return Advance::kWait;
      }
      KeepRaw(connection, input.substr(0, step.consumed_bytes));
      connection->window_bytes -= static_cast<int64_t>(step.body.size());
      records_->Body(connection->slot, step.body);
      return Advance::kGoOn;
    case DecodeStatus::kEnd:
      if (connection->decoder->closes_connection()) connection->is_last_request = true;
      records_->BodyEnd(connection->slot, connection->decoder->trailers());
      ReturnDecoder(connection);
      MessageDone(connection);
      return Advance::kGoOn;
    case DecodeStatus::kError:
      RefuseChunked(connection, input);
      return Advance::kWait;
  }
  return Advance::kWait;
}

void Http1Session::RefuseChunked(Connection* connection, std::string_view input) {
  ErrorKind kind = ErrorKind::kMalformed;
  const http1::ParseError error = connection->decoder->error();
  if (error == http1::ParseError::kChunkExtensionsOverflow) kind = ErrorKind::kChunkExtensions;
  if (error == http1::ParseError::kHeaderOverflow) kind = ErrorKind::kHeaderOverflow;
  KeepRaw(connection, input);
  const std::unique_ptr<std::string> raw = std::move(connection->raw);
  Refuse(connection, kind, raw == nullptr ? std::string_view() : std::string_view(*raw));
}

// 'clientError' shows a chunked message from its beginning; a body with a length cannot be
// malformed.
void Http1Session::KeepRaw(Connection* connection, std::string_view bytes) {
  if (connection->decoder == nullptr) return;
  if (connection->raw == nullptr) connection->raw = std::make_unique<std::string>();
  const size_t room = limits::kRawBytesMax - connection->raw->size();
  connection->raw->append(bytes.substr(0, room));
}

Http1Session::Advance Http1Session::ConsumeOpaque(Connection* connection, std::string_view input,
                                                  size_t* used) {
  if (connection->window_bytes <= 0) {
    transport_->Pause(connection, kPauseWindow);
    return Advance::kWait;
  }
  const std::string_view piece = input.substr(0, static_cast<size_t>(connection->window_bytes));
  records_->Body(connection->slot, piece);
  connection->window_bytes -= static_cast<int64_t>(piece.size());
  *used = piece.size();
  return Advance::kGoOn;
}

Http1Session::Advance Http1Session::ConsumeWebSocket(Connection* connection, std::string_view input,
                                                     size_t* used) {
  // The memory is this session's buffer or what it kept: masks are removed there.
  *used = websockets_->Read(connection, const_cast<char*>(input.data()), input.size());
  if (*used == input.size()) return Advance::kGoOn;
  if (connection->is_open()) transport_->Pause(connection, kPauseWindow);
  return Advance::kWait;
}

Http1Session::Advance Http1Session::SkipLength(Connection* connection, std::string_view input,
                                               size_t* used) {
  *used = std::min<uint64_t>(input.size(), connection->body_bytes);
  connection->body_bytes -= *used;
  if (connection->body_bytes == 0) MessageDone(connection);
  return Advance::kGoOn;
}

Http1Session::Advance Http1Session::SkipChunked(Connection* connection, std::string_view input,
                                                size_t* used) {
  const http1::ChunkedDecoder::Step step = connection->decoder->Next(input);
  *used = step.consumed_bytes;
  connection->body_bytes += step.body.size();
  if (step.status == DecodeStatus::kEnd) {
    ReturnDecoder(connection);
    MessageDone(connection);
    return Advance::kGoOn;
  }
  if (step.status == DecodeStatus::kError || connection->body_bytes > limits::kLingerBytesMax) {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    transport_->Flush(connection);
    return Advance::kWait;
  }
  return step.consumed_bytes == 0 ? Advance::kWait : Advance::kGoOn;
}

// llhttp refuses anything but line ends after a request that closes the connection.
Http1Session::Advance Http1Session::ConsumeAfterClose(Connection* connection,
                                                      std::string_view input, size_t* used) {
  *used = input.size();
  if (input.find_first_not_of("\r\n") == std::string_view::npos) return Advance::kGoOn;
  Refuse(connection, ErrorKind::kDataAfterClose, input);
  return Advance::kWait;
}

// -- Parsers.

std::unique_ptr<http1::RequestParser> Http1Session::TakeParser() {
  if (parsers_.empty()) return std::make_unique<http1::RequestParser>(methods_);
  auto parser = std::move(parsers_.back());
  parsers_.pop_back();
  return parser;
}

std::unique_ptr<http1::ChunkedDecoder> Http1Session::TakeDecoder() {
  if (decoders_.empty()) return std::make_unique<http1::ChunkedDecoder>();
  auto decoder = std::move(decoders_.back());
  decoders_.pop_back();
  return decoder;
}

void Http1Session::ReturnDecoder(Connection* connection) {
  std::unique_ptr<http1::ChunkedDecoder> decoder = std::move(connection->decoder);
  if (decoders_.size() < limits::kSpareParsersMax) decoders_.push_back(std::move(decoder));
}

}  // namespace httpsys::engine
