#include "engine/http2/http2_requests.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "http2/request_text.h"
#include "url/url_path.h"

namespace httpsys::engine {
namespace {

using http2::AppendLines;
using http2::FieldsStatus;
using http2::kFlagEndStream;
using http2::kInternalError;
using http2::kProtocolError;
using http2::kRefusedStream;
using http2::ParseTrailers;
using http2::RequestFields;
using records::ErrorKind;

}  // namespace

void Http2Requests::OnSection(Http2State* state, const Frame& frame) {
  state->connection->message.StopTime();
  // Do nothing if the section was refused already.
  if (state->fields == nullptr || state->fields->is_refused()) return;
  if (Connection* stream = Http2Connections::StreamOf(state->session, frame.stream_id)) {
    OnRequestTrailers(stream);
  } else if (frame.stream_id > state->last_stream) {
    state->last_stream = frame.stream_id;
    OpenStream(state, frame.stream_id, (frame.flags & kFlagEndStream) != 0);
  }
}

void Http2Requests::OpenStream(Http2State* state, int32_t id, bool has_ended) {
  auto stream = std::make_unique<Http2Stream>();
  stream->state = state;
  stream->id = id;
  stream->fields = std::move(state->fields);
  stream->is_bodiless = stream->has_ended = has_ended;
  Connection* connection =
      transport_->OpenStream(state->connection, state->connection->server(), std::move(stream));
  connection->stream->next = state->first_stream;
  if (state->first_stream != nullptr) state->first_stream->stream->previous = connection;
  state->first_stream = connection;
  state->connection->message.SetServed();
  api_->session_set_stream_user_data(state->session, id, connection);
  if (++state->streams == 1) connections_->Watch(state);
  if (connection->stream->has_ended) {
    Tell(connection);
  } else {
    // Wait for body bytes in the same read: as on HTTP/1, no tick runs between a head and a small
    // body.
    begun_.push_back(connection);
  }
}

void Http2Requests::TellBegun() {
  // Tell() may close streams, which removes them from the list.
  while (!begun_.empty()) {
    Connection* stream = begun_.front();
    begun_.pop_front();
    if (stream->is_open() && !stream->stream->is_told) Tell(stream);
  }
}

void Http2Requests::OnRequestTrailers(Connection* connection) {
  const auto fields = std::move(connection->stream->state->fields);
  if (!fields->FinishTrailers(&trailers_))
    return responses_->FailStream(connection, kProtocolError);
  if (!connection->stream->is_told) Tell(connection);
  if (!connection->is_open()) return;
  connection->stream->has_ended = true;
  windows_.OnEnded(connection->stream.get());
  if (connection->stream->is_parked || IsRelayed(connection->phase())) {
    AppendLines(trailers_, &connection->stream->request_trailers);
    if (!connection->stream->is_parked) relays_->EndRelayed(connection);
    return;
  }
  // trailers_ is still valid: Tell() has not used it.
  if (connection->phase() == InputPhase::kStream) {
    connection->attachment().records().BodyEnd(connection->slot.number(), trailers_);
    connection->message.StopTime();
  } else {
    EndOfInput(connection);
  }
}

void Http2Requests::Tell(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  std::unique_ptr<RequestFields> fields = std::move(stream->fields);
  // A request that has waited was finished before, and its head is kept.
  FieldsStatus status = FieldsStatus::kDone;
  if (!std::exchange(stream->is_told, true))
    status = fields->Finish(*methods_, stream->is_bodiless);
  const http1::RequestHead& head = fields->head();
  stream->is_head = head.method == head_method_;
  stream->is_connect = head.upgrade;
  stream->is_extended = fields->is_extended_connect();
  switch (status) {
    case FieldsStatus::kMalformed:
      responses_->FailStream(connection, kProtocolError);
      break;
    case FieldsStatus::kUnknownMethod:
      answers_->AnswerRefused(this, connection, ErrorKind::kMalformed, false);
      break;
    case FieldsStatus::kTooLarge:
      answers_->AnswerRefused(this, connection, ErrorKind::kHeaderOverflow, false);
      break;
    case FieldsStatus::kDone:
      HandleHead(connection, *fields);
      break;
  }
  const bool is_relayed = connection->is_open() && IsRelayed(connection->phase());
  const bool is_kept = stream->is_parked || stream->is_movable ||
                       (is_relayed && stream->body.size() <= limits::kRelayKeptBytesMax);
  if (connection->is_open() && is_kept) {
    stream->fields = std::move(fields);
  } else {
    if (is_relayed) stream->body = {};
    connections_->ReturnFields(std::move(fields));
  }
}

void Http2Requests::HandleHead(Connection* connection, const RequestFields& fields) {
  ArrivedRequest request{this, connection, fields.head(), fields.total_bytes()};
  switch (pipeline_->Take(&request)) {
    case RequestPipeline::Next::kDeliver:
      return Deliver(&request);
    case RequestPipeline::Next::kTooLarge:
      return answers_->AnswerRefused(this, connection, ErrorKind::kBodyTooLarge, false);
    case RequestPipeline::Next::kWaitTurn:
      return Park(connection, kPauseOrder);
    case RequestPipeline::Next::kWaitMemory:
      return Park(connection, kPauseMemory);
    case RequestPipeline::Next::kAnswered:
    case RequestPipeline::Next::kRelayed:
    case RequestPipeline::Next::kGone:
      return;
  }
}

void Http2Requests::Deliver(ArrivedRequest* request) {
  Connection* connection = request->connection;
  const http1::RequestHead& head = request->head;
  Http2Stream* stream = connection->stream.get();
  Connection* parent = stream->state->connection;
  if (!parent->slot.is_announced()) transport_->Assign(parent, connection->server());
  transport_->Announce(connection, 0);
  const bool has_trailers = !stream->request_trailers.empty();
  const uint64_t body_max = connection->server()->config->settings().max_request_body_size;
  const bool is_too_large = body_max != 0 && stream->body.size() > body_max && !head.upgrade;
  if (is_too_large) stream->body.clear();
  RecordWriter::Request record = pipeline_->BeginRecord(*request);
  record.parent_slot = parent->slot.number();
  record.flags |= records::kFlagStream;
  const bool is_whole = stream->has_ended && !has_trailers && !is_too_large;
  if (is_whole) record.flags |= records::kFlagComplete;
  if (head.upgrade) {
    connection->Enter(InputPhase::kAwaitUpgrade);
    SocketWatch::Pause(connection, kPauseUpgrade);
  } else {
    record.body = stream->body;
  }
  stream->is_movable = request->route.has_others && is_whole && !head.upgrade &&
                       stream->body.size() <= limits::kMovableBytesMax;
  request->route.has_others = stream->is_movable;
  pipeline_->Deliver(*request, record, {});
  stream->queue_end = connection->attachment().requests().appended();
  if (head.upgrade) {
    if (!stream->body.empty()) connection->input.KeepOnly(stream->body);
    if (stream->has_ended) EndOfInput(connection);
  } else if (is_too_large) {
    RefuseBody(connection);
  } else if (!stream->has_ended) {
    connection->message.Begin(uv_hrtime());
    StreamWindows::Begin(stream, uv_now(loop_));
    // Body bytes in the request's record do not count for the receive window.
    connections_->GiveWindow(connection, static_cast<uint32_t>(stream->body.size()));
  } else if (has_trailers && ParseTrailers(stream->request_trailers, &trailers_)) {
    connection->attachment().records().BodyEnd(connection->slot.number(), trailers_);
  }
  stream->body_bytes = stream->body.size();
  if (stream->is_movable) return;
  stream->body.clear();
  stream->body.shrink_to_fit();
}

void Http2Requests::OnBodyPiece(Connection* connection, std::string_view piece) {
  Http2Stream* stream = connection->stream.get();
  ConnectionTimers::SetActive(connection, uv_now(loop_));
  stream->unread_bytes += static_cast<uint32_t>(piece.size());
  if (!stream->is_told) {
    if (stream->body.size() + piece.size() <= limits::kInlineBodyBytesMax) {
      stream->body.append(piece);
      return;
    }
    Tell(connection);
    if (!connection->is_open()) return;
  }
  if (stream->is_parked) {
    stream->body.append(piece);
    return;
  }
  if (connection->attachment().requests().stalled() && !IsRelayed(connection->phase())) {
    // Pause the whole connection, because its next bytes may belong to this body.
    Input::PauseForMemory(stream->state->connection);
  }
  switch (connection->phase()) {
    case InputPhase::kStream: {
      const uint64_t body_max = connection->server()->config->settings().max_request_body_size;
      stream->body_bytes += piece.size();
      if (body_max != 0 && stream->body_bytes > body_max) return RefuseBody(connection);
      connection->attachment().records().Body(connection->slot.number(), piece);
      return;
    }
    case InputPhase::kAwaitUpgrade:
    case InputPhase::kUndecided:
    case InputPhase::kOpaque:
    case InputPhase::kWebSocket:
      input_->Receive(connection, piece);
      if (connection->is_open()) OnPausesChanged(connection);
      return;
    case InputPhase::kRelayLength:
    case InputPhase::kRelayChunked:
    case InputPhase::kRelayUpgrade:
    case InputPhase::kRelayOpaque:
      return relays_->RelayPiece(connection, piece);
    default:
      connections_->GiveWindow(connection, stream->unread_bytes);
  }
}

void Http2Requests::RefuseBody(Connection* connection) {
  connections_->GiveWindow(connection, connection->stream->unread_bytes);
  RefuseStream(connection, ErrorKind::kBodyTooLarge);
}

void Http2Requests::OnPeerEnd(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  stream->has_ended = true;
  windows_.OnEnded(stream);
  if (!stream->is_told) return Tell(connection);
  if (stream->is_parked) return;
  if (IsRelayed(connection->phase())) return relays_->EndRelayed(connection);
  if (connection->phase() == InputPhase::kStream) {
    connection->message.StopTime();
    connection->attachment().records().BodyEnd(connection->slot.number(), {});
  } else {
    EndOfInput(connection);
  }
}

// Marks the end of a tunnel's input. JavaScript learns of the end after all bytes before it.
void Http2Requests::EndOfInput(Connection* connection) {
  connection->stream->is_end_due = true;
  OnPausesChanged(connection);
}

void Http2Requests::OnPausesChanged(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  const InputPhase phase = connection->phase();
  if (stream->is_parked && connection->watch.pauses() == 0) {
    // Try again to pass on the request, because its owner may be known now.
    stream->is_parked = false;
    return Tell(connection);
  }
  if (IsRelayed(phase)) return relays_->GiveRelayWindow(connection);
  const bool is_tunnel = phase == InputPhase::kOpaque || phase == InputPhase::kWebSocket ||
                         phase == InputPhase::kUndecided;
  if (!is_tunnel) return;
  const size_t kept = connection->input.partial_bytes();
  if (stream->unread_bytes > kept) {
    connections_->GiveWindow(connection, stream->unread_bytes - static_cast<uint32_t>(kept));
  }
  if (!stream->is_end_due) return;
  if (kept != 0) {
    if (phase == InputPhase::kUndecided && !stream->is_hinted) {
      stream->is_hinted = true;
      connection->attachment().records().Eof(connection->slot.number(), records::kFlagUndecided);
    }
    return;
  }
  stream->is_end_due = false;
  Endings::SetPeerEnded(connection);
  connection->attachment().records().Eof(connection->slot.number());
  if (stream->is_gone) transport_->Close(connection, 0);
}

void Http2Requests::OnWindow(Connection* connection, uint32_t bytes) {
  if (connection->phase() != InputPhase::kStream) return input_->OnWindow(connection, bytes);
  Http2Stream* stream = connection->stream.get();
  const uint32_t given = std::min(bytes, stream->unread_bytes);
  connections_->GiveWindow(connection, given);
  if (!windows_.OnConsumed(stream, given, uv_now(loop_))) return;
  // The larger window is sent with the window that GiveWindow() gave back.
  api_->session_set_local_window_size(stream->state->session, 0, stream->id,
                                      stream->state->window_bytes + limits::kReceiveExtraBytes);
}

void Http2Requests::OnUpgradeDecline(Connection* connection) {
  if (connection->phase() != InputPhase::kAwaitUpgrade) return;
  connection->stream->is_declined = true;
  connection->Enter(InputPhase::kOver);
  connection->input.DropKept();
  connections_->GiveWindow(connection, connection->stream->unread_bytes);
}

void Http2Requests::OnRefuseBody(Connection* connection, const ReplyRecord& reply) {
  if (reply.has(records::kReplyLogged)) {
    answers_->CountRefusedBody(connection, !reply.has(records::kReplyUnanswered));
  }
  if (connection->phase() != InputPhase::kStream || connection->stream->is_parked) return;
  // Give the window back, so that the client can finish sending this body.
  connections_->GiveWindow(connection, connection->stream->unread_bytes);
  connection->message.StopTime();
  connection->Refuse(ErrorKind::kBodyTooLarge);
}

void Http2Requests::CheckStreamTimeouts(Connection* connection, uint64_t now_ns,
                                        uint64_t request_ns) {
  if (!connection->is_open() || connection->message.start_ns() == 0 || request_ns == 0) return;
  if (now_ns - std::min(now_ns, connection->message.start_ns()) <= request_ns) return;
  connections_->GiveWindow(connection, connection->stream->unread_bytes);
  RefuseStream(connection, ErrorKind::kTimeout);
}

void Http2Requests::WriteAnswer(Connection* connection, const NativeAnswer& answer) {
  Http2Stream* stream = connection->stream.get();
  connection->Enter(InputPhase::kOver);
  // JavaScript has not begun the request: OnEnd() must not count it as begun.
  stream->queue_end = 0;
  connections_->GiveWindow(connection, stream->unread_bytes);
  responses_->OnHead(connection, answer.head, answer.pieces.empty());
  for (const NativeAnswer::Piece& piece : answer.pieces) {
    if (!connection->is_open() || stream->is_head) break;
    if (piece.file != nullptr) {
      output_->SendFile(connection, OutputQueue::kNoBlock, piece.file);
      stream->response.BeginNothing();
      continue;
    }
    std::shared_ptr<const void> owner = piece.owner;
    std::string_view bytes = piece.bytes;
    if (owner == nullptr && piece.lender != nullptr) {
      Lender::Kept kept = piece.lender->Keep(bytes);
      owner = std::move(kept.owner);
      bytes = kept.bytes;
    } else if (owner == nullptr) {
      auto copy = std::make_shared<const std::string>(bytes);
      bytes = *copy;
      owner = std::move(copy);
    }
    output_->SendShared(connection, std::move(owner), bytes, 0);
    stream->response.BeginNothing();
  }
  if (connection->is_open()) responses_->OnEnd(connection, true, true);
}

void Http2Requests::ResetRequest(Connection* connection, bool may_retry) {
  // Clients repeat a request after kRefusedStream.
  connection->stream->queue_end = 0;
  connection->stream->reset_code = may_retry ? kRefusedStream : kInternalError;
  transport_->Close(connection, 0);
}

// Refuses the stream's request. If it is answered already, resets the stream instead.
void Http2Requests::RefuseStream(Connection* stream, ErrorKind kind) {
  stream->message.StopTime();
  if (stream->message.unanswered() == 0) return transport_->Close(stream, 0);
  stream->Refuse(kind);
  stream->attachment().records().Error(stream->slot.number(), kind, {});
}

// Keeps a request until its owner is found or can take it. The client's window bounds the number of
// kept bytes.
void Http2Requests::Park(Connection* connection, PauseReason reason) {
  connection->stream->is_parked = true;
  connection->Enter(InputPhase::kStream);
  SocketWatch::Pause(connection, reason);
}

void Http2Requests::TakeBack(Connection* connection) {
  connection->message.SetUnanswered(0);
  connection->sharing.OnTakenBack();
  connection->input.DropKept();
  connection->stream->is_end_due = false;
  Park(connection, kPauseOrder);
}

bool Http2Requests::CanWithdraw(const Connection* connection) const {
  const Http2Stream& stream = *connection->stream;
  return stream.is_movable && connection->phase() == InputPhase::kStream && !stream.is_answered &&
         !stream.is_gone;
}

void Http2Requests::Withdraw(Connection* connection) {
  transport_->Withdraw(connection);
  connection->message.SetUnanswered(0);
  connection->stream->queue_end = 0;
  connection->stream->is_movable = false;
  Park(connection, kPauseOrder);
}

void Http2Requests::OnRelayFailed(Connection* connection, bool is_begun) {
  connection->message.SetUnanswered(0);
  if (is_begun) {
    connections_->ForgetRequest(connection);
    return responses_->FailStream(connection, kInternalError);
  }
  const RequestFields* fields = connection->stream->fields.get();
  NativeAnswers::Unserved request{RouteStatus::kOffline,
                                  fields == nullptr ? nullptr : &fields->head()};
  // The member may have handled the request already, so the client must not repeat it.
  request.was_relayed = true;
  request.may_retry = false;
  (void)answers_->AnswerUnserved(this, connection, request);
  connections_->ForgetRequest(connection);
}

void Http2Requests::OnDetach(Connection* connection) {
  std::erase(begun_, connection);
  Http2Stream* stream = connection->stream.get();
  windows_.OnDetached(stream);
  if (stream->fields != nullptr) connections_->ReturnFields(std::move(stream->fields));
}

}  // namespace httpsys::engine
