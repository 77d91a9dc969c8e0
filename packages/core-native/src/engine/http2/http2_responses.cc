// What Http2Session does with what JavaScript sends on streams.

#include <utility>

#include "base/limits.h"
#include "engine/http1/http1_session.h"
#include "engine/http2/http2_session.h"

namespace httpsys::engine {

using http2::ErrorCode;
using http2::kCancel;
using http2::kConnectError;
using http2::kFlagEndStream;
using http2::kHeadersFrame;
using http2::kInternalError;
using http2::kNoError;
using http2::kProtocolError;
using http2::kResetFrame;
using http2::NgProvider;
using http2::ParseResponseHead;
using http2::ResponseText;

namespace {

constexpr int kSwitchingProtocols = 101;

bool IsWithoutBody(int status) { return status == 204 || status == 304; }

}  // namespace

// nghttp2 learns that there is more.
void Http2Session::Resume(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  if (stream->state == nullptr || stream->is_gone || !stream->is_deferred) return;
  stream->is_deferred = false;
  api_->session_resume_data(stream->state->session, stream->id);
}

void Http2Session::FailStream(Connection* connection, ErrorCode code) {
  connection->stream->reset_code = code;
  if (code == kProtocolError) {
    Http2State* state = connection->stream->state;
    CountError(state);
  }
  transport_->Close(connection, 0);
}

// -- Heads.

void Http2Session::OnHead(Connection* connection, std::string_view head, bool is_all) {
  if (connection->stream->response.is_before_head()) SendHead(connection, head, is_all);
}

void Http2Session::SendHead(Connection* connection, std::string_view text, bool is_all) {
  Http2Stream* stream = connection->stream.get();
  if (stream->is_gone) return;
  if (!ParseResponseHead(text, &response_)) return FailStream(connection, kInternalError);
  stream->head_bytes += static_cast<uint32_t>(text.size());
  const int status = response_.status;
  const bool is_tunnel = stream->is_connect && !stream->is_declined;
  if (status == kSwitchingProtocols) {
    if (!is_tunnel || !stream->is_extended) return FailStream(connection, kInternalError);
    response_fields_.FillAccept(response_.lines);
    stream->response.BeginUntilEnd();
    return Submit(connection, true);
  }
  if (status < 200) {
    response_fields_.Fill(status, response_.lines);
    api_->submit_headers(stream->state->session, 0, stream->id, nullptr, response_fields_.data(),
                         response_fields_.size(), nullptr);
    transport_->Touch(connection);
    return;
  }
  // Whoever asked for a tunnel would take this for one.
  const bool is_success = status < 300;
  if (stream->is_extended && is_success) return FailStream(connection, kConnectError);
  response_fields_.Fill(status, response_.lines);
  // What the lane answers by itself, and what other members answer, is about the request alone.
  const bool is_application = connection->phase == InputPhase::kStream || stream->is_declined;
  if (response_fields_.closes() && is_application) stream->ends_connection = true;
  if (stream->is_head || IsWithoutBody(status)) {
    stream->response.BeginNothing();
  } else if (is_tunnel && is_success) {
    stream->response.BeginUntilEnd();
  } else if (response_.is_chunked) {
    stream->response.BeginChunks();
  } else if (response_.has_length) {
    stream->response.BeginLength(response_.content_length);
  } else {
    stream->response.BeginUntilEnd();
  }
  Submit(connection, !is_all && !stream->response.is_done());
}

void Http2Session::Submit(Connection* connection, bool has_body) {
  Http2Stream* stream = connection->stream.get();
  stream->is_answered = true;
  const NgProvider provider{{0}, ReadOutput};
  if (!has_body) stream->is_complete = true;
  api_->submit_response(stream->state->session, stream->id, response_fields_.data(),
                        response_fields_.size(), has_body ? &provider : nullptr);
  transport_->Touch(connection);
}

// -- Bodies.

void Http2Session::OnText(Connection* connection, std::string_view text) {
  size_t credit = 0;
  while (!text.empty() && connection->is_open()) {
    const ResponseText::Step step = connection->stream->response.Next(text);
    text.remove_prefix(step.used);
    switch (step.kind) {
      case ResponseText::Kind::kHead:
        credit += step.used;
        SendHead(connection, step.bytes, false);
        break;
      case ResponseText::Kind::kBody:
        transport_->Send(connection, step.bytes, step.bytes.size());
        break;
      case ResponseText::Kind::kTrailers:
        credit += step.used;
        connection->stream->trailers.assign(step.bytes);
        break;
      case ResponseText::Kind::kNeedMore:
        credit += step.used;
        break;
      case ResponseText::Kind::kFailed:
        return FailStream(connection, kInternalError);
    }
  }
  if (connection->is_open()) transport_->Credit(connection, credit);
}

void Http2Session::OnBody(Connection* connection, std::string_view bytes) {
  if (!connection->stream->response.takes_unframed()) return OnText(connection, bytes);
  transport_->Send(connection, bytes, bytes.size());
}

void Http2Session::OnBlock(Connection* connection, uint32_t block_id, std::string_view bytes,
                           bool is_framed) {
  Http2Stream* stream = connection->stream.get();
  if (is_framed || stream->response.IsNextBody(bytes.size())) {
    if (!is_framed) stream->response.Next(bytes);
    return transport_->SendBlock(connection, block_id, bytes);
  }
  // With framing in it: what remains of it is copied.
  const size_t credit = SendText(connection, std::make_shared<const std::string>(bytes), true);
  transport_->ReturnBlock(block_id);
  if (connection->is_open()) transport_->Credit(connection, credit);
}

size_t Http2Session::SendText(Connection* connection,
                              const std::shared_ptr<const std::string>& copy, bool counts_body) {
  Http2Stream* stream = connection->stream.get();
  std::string_view text = *copy;
  size_t rest = 0;
  while (!text.empty() && connection->is_open()) {
    const ResponseText::Step step = stream->response.Next(text);
    text.remove_prefix(step.used);
    if (step.kind == ResponseText::Kind::kBody) {
      transport_->SendShared(connection, copy, step.bytes, counts_body ? step.bytes.size() : 0);
      continue;
    }
    rest += step.used;
    if (step.kind == ResponseText::Kind::kHead) SendHead(connection, step.bytes, false);
    if (step.kind == ResponseText::Kind::kTrailers) stream->trailers.assign(step.bytes);
    if (step.kind == ResponseText::Kind::kFailed) FailStream(connection, kInternalError);
  }
  return rest;
}

void Http2Session::OnTrailers(Connection* connection, std::string_view lines) {
  connection->stream->trailers.assign(lines);
  connection->stream->response.BeginNothing();
}

// -- Ends.

// `is_whole`: somebody who knows says so.
void Http2Session::OnEnd(Connection* connection, bool is_whole, bool closes) {
  Http2Stream* stream = connection->stream.get();
  connection->unanswered = 0;
  // JavaScript has begun what it answers: a busy connection is back with the next request before a
  // whole batch is read.
  http1_->SettleUnread(stream->queue_end);
  // Nobody waits for the bytes of a tunnel that is none.
  if (closes || stream->is_declined) stream->closes = true;
  if (!stream->is_answered) return FailStream(connection, kCancel);
  if (!is_whole && !stream->response.is_whole()) return FailStream(connection, kInternalError);
  stream->is_complete = true;
  stream->response.BeginNothing();
  transport_->Touch(connection);
}

int Http2Session::OnFrameSent(Ng* session, const Frame* frame, void* user) {
  if (frame->type == kResetFrame) static_cast<Http2State*>(user)->used.OnReset(frame->stream_id);
  if (frame->type > kHeadersFrame || (frame->flags & kFlagEndStream) == 0) return 0;
  Connection* connection = StreamOf(session, frame->stream_id);
  if (connection == nullptr) return 0;
  const Http2Stream& stream = *connection->stream;
  // The rest of the request is not wanted (RFC 9113, section 8.1).
  if (stream.closes && !stream.has_ended) {
    Http2Session* self = static_cast<Http2State*>(user)->owner;
    self->api_->submit_rst_stream(session, 0, frame->stream_id, kNoError);
  }
  return 0;
}

void Http2Session::OnDestroy(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  const bool is_tunnel = stream->is_connect && !stream->is_declined;
  // Where the end of the connection would be the end of the message.
  if (stream->is_answered && stream->response.is_until_end() && !is_tunnel) {
    OnEnd(connection, true, true);
  }
  FlushNow(connection);
  if (!connection->is_open()) return;
  if (stream->is_complete && transport_->OutputBytes(connection) == 0) {
    stream->reset_code = kNoError;
  } else if (stream->is_answered && !is_tunnel) {
    // Nobody may take it for the whole.
    stream->reset_code = kInternalError;
  }
  transport_->Close(connection, 0);
}

void Http2Session::OnBehind(Connection* connection) {
  if (connection->is_timer_running()) return;
  const uint64_t stall_ms = connection->server->config->settings().http2.stall_ms;
  if (stall_ms != 0) transport_->StartIdleTimer(connection, stall_ms);
}

// Some of the stream's output has left.
void Http2Session::OnProgress(Connection* connection) {
  if (connection->relay != nullptr && connection->queue == nullptr) {
    router_->OnOutputDone(connection);
  }
  if (!connection->is_timer_running()) return;
  transport_->StopTimer(connection);
  if (connection->queue != nullptr) OnBehind(connection);
}

// The peer opens no window for what it has asked for, or does not read.
void Http2Session::OnStalled(Connection* connection) { FailStream(connection, kCancel); }

}  // namespace httpsys::engine
