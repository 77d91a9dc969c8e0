#include "engine/http2/http2_responses.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {
namespace {

using http2::ErrorCode;
using http2::kCancel;
using http2::kConnectError;
using http2::kFlagEndStream;
using http2::kFrameHeaderBytes;
using http2::kHeadersFrame;
using http2::kInternalError;
using http2::kNgDeferred;
using http2::kNgStreamFailure;
using http2::kNgWouldBlock;
using http2::kNoError;
using http2::kProtocolError;
using http2::kReadEof;
using http2::kReadNoCopy;
using http2::kReadNoEndStream;
using http2::kResetFrame;
using http2::NgApi;
using http2::NgProvider;
using http2::NgSource;
using http2::ParseResponseHead;
using http2::ParseTrailers;
using http2::ResponseText;

constexpr int kSwitchingProtocols = 101;

bool IsWithoutBody(int status) { return status == 204 || status == 304; }

}  // namespace

void Http2Responses::OnHead(Connection* connection, std::string_view head, bool is_all) {
  if (connection->stream->response.is_before_head()) SendHead(connection, head, is_all);
}

void Http2Responses::OnText(Connection* connection, std::string_view text) {
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
        output_->Send(connection, step.bytes, step.bytes.size());
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
  if (connection->is_open()) output_->Credit(connection, credit);
}

void Http2Responses::OnBody(Connection* connection, std::string_view bytes) {
  if (!connection->stream->response.takes_unframed()) return OnText(connection, bytes);
  output_->Send(connection, bytes, bytes.size());
}

void Http2Responses::OnBlock(Connection* connection, uint32_t block_id, std::string_view bytes,
                             bool is_framed) {
  Http2Stream* stream = connection->stream.get();
  if (is_framed || stream->response.IsNextBody(bytes.size())) {
    if (!is_framed) stream->response.Next(bytes);
    return output_->SendBlock(connection, block_id, bytes);
  }
  // The block contains chunk framing, so its bytes are copied.
  Attachment& attachment = connection->attachment();
  const size_t credit = SendText(connection, std::make_shared<const std::string>(bytes), true);
  attachment.ReturnBlock(block_id, 0);
  if (connection->is_open()) output_->Credit(connection, credit);
}

void Http2Responses::OnFile(Connection* connection, uint32_t block_id,
                            std::shared_ptr<const files::FilePart> part, bool is_framed) {
  Http2Stream* stream = connection->stream.get();
  if (!is_framed) {
    // A file has no framing of the application: all its bytes must fit into the announced body.
    if (!stream->response.IsNextBody(part->bytes)) {
      connection->attachment().ReturnBlock(block_id, 0);
      return FailStream(connection, kInternalError);
    }
    stream->response.SkipBody(part->bytes);
  }
  output_->SendFile(connection, block_id, std::move(part));
}

void Http2Responses::OnTrailers(Connection* connection, std::string_view lines) {
  connection->stream->trailers.assign(lines);
  connection->stream->response.BeginNothing();
}

void Http2Responses::OnEnd(Connection* connection, bool is_whole, bool closes) {
  Http2Stream* stream = connection->stream.get();
  connection->message.SetUnanswered(0);
  // The request no longer counts as unbegun. The next request may arrive before JavaScript has
  // finished its batch.
  if (stream->queue_end != 0) connection->attachment().unread().Settle(stream->queue_end);
  // If the tunnel was declined, its further bytes have no receiver.
  if (closes || stream->is_declined) stream->closes = true;
  if (!stream->is_answered) return FailStream(connection, kCancel);
  if (!is_whole && !stream->response.is_whole()) return FailStream(connection, kInternalError);
  stream->is_complete = true;
  stream->response.BeginNothing();
  output_->Touch(connection);
}

void Http2Responses::OnDestroy(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  const bool is_tunnel = stream->is_connect && !stream->is_declined;
  // A response without length or chunks is complete: on HTTP/1.1 the end of the connection ends it.
  if (stream->is_answered && stream->response.is_until_end() && !is_tunnel) {
    OnEnd(connection, true, true);
  }
  FlushNow(connection);
  if (!connection->is_open()) return;
  if (stream->is_complete && output_->OutputBytes(connection) == 0) {
    stream->reset_code = kNoError;
  } else if (stream->is_answered && !is_tunnel) {
    // The reset tells the client that the response is incomplete.
    stream->reset_code = kInternalError;
  }
  transport_->Close(connection, 0);
}

void Http2Responses::OnBehind(Connection* connection) {
  if (connection->is_timer_running()) return;
  const uint64_t stall_ms = connection->server()->config->settings().http2.stall_timeout;
  if (stall_ms != 0) transport_->StartIdleTimer(connection, stall_ms);
}

// Called when some of the stream's output was written.
void Http2Responses::OnProgress(Connection* connection) {
  if (connection->relay() != nullptr && connection->output.queue() == nullptr) {
    router_->OnOutputDone(connection);
  }
  if (!connection->is_timer_running()) return;
  transport_->StopTimer(connection);
  if (connection->output.queue() != nullptr) OnBehind(connection);
}

void Http2Responses::OnReleased(Connection* connection) {
  if (!connection->is_timer_running()) return;
  transport_->StopTimer(connection);
  OnBehind(connection);
}

void Http2Responses::OnStalled(Connection* connection) {
  if (connection->is_held()) return OnBehind(connection);
  FailStream(connection, kCancel);
}

size_t Http2Responses::SendText(Connection* connection,
                                const std::shared_ptr<const std::string>& copy, bool counts_body) {
  Http2Stream* stream = connection->stream.get();
  std::string_view text = *copy;
  size_t rest = 0;
  while (!text.empty() && connection->is_open()) {
    const ResponseText::Step step = stream->response.Next(text);
    text.remove_prefix(step.used);
    if (step.kind == ResponseText::Kind::kBody) {
      output_->SendShared(connection, copy, step.bytes, counts_body ? step.bytes.size() : 0);
      continue;
    }
    rest += step.used;
    if (step.kind == ResponseText::Kind::kHead) SendHead(connection, step.bytes, false);
    if (step.kind == ResponseText::Kind::kTrailers) stream->trailers.assign(step.bytes);
    if (step.kind == ResponseText::Kind::kFailed) FailStream(connection, kInternalError);
  }
  return rest;
}

void Http2Responses::SendHead(Connection* connection, std::string_view text, bool is_all) {
  Http2Stream* stream = connection->stream.get();
  if (stream->is_gone) return;
  if (stream->is_movable) connections_->ForgetRequest(connection);
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
    output_->Touch(connection);
    return;
  }
  // The client would take a 2xx response for an accepted tunnel.
  const bool is_success = status < 300;
  if (stream->is_extended && is_success) return FailStream(connection, kConnectError);
  response_fields_.Fill(status, response_.lines);
  // `Connection: close` in answers of the lane or of other members concerns only this request.
  const bool is_application = connection->phase() == InputPhase::kStream || stream->is_declined;
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

void Http2Responses::Submit(Connection* connection, bool has_body) {
  Http2Stream* stream = connection->stream.get();
  stream->is_answered = true;
  NgProvider provider{{0}, ReadOutput};
  provider.source.pointer = this;
  if (!has_body) stream->is_complete = true;
  api_->submit_response(stream->state->session, stream->id, response_fields_.data(),
                        response_fields_.size(), has_body ? &provider : nullptr);
  output_->Touch(connection);
}

void Http2Responses::FailStream(Connection* connection, ErrorCode code) {
  connection->stream->reset_code = code;
  if (code == kProtocolError) {
    Http2State* state = connection->stream->state;
    connections_->CountError(state);
  }
  transport_->Close(connection, 0);
}

void Http2Responses::Resume(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  if (stream->state == nullptr || stream->is_gone || !stream->is_deferred) return;
  stream->is_deferred = false;
  api_->session_resume_data(stream->state->session, stream->id);
}

void Http2Responses::FlushNow(Connection* stream) {
  Http2State* state = stream->stream->state;
  if (state == nullptr) return;
  Resume(stream);
  if (!connections_->is_receiving()) connections_->Flush(state);
}

ssize_t Http2Responses::ReadOutput(Ng* session, int32_t stream_id, uint8_t*, size_t bytes,
                                   uint32_t* flags, NgSource* source, void* user) {
  Connection* connection = Http2Connections::StreamOf(session, stream_id);
  if (connection == nullptr) return kNgStreamFailure;
  auto* self = static_cast<Http2Responses*>(source->pointer);
  Http2Stream* stream = connection->stream.get();
  const size_t there = self->output_->OutputBytes(connection);
  if (there == 0 && !stream->is_complete) {
    stream->is_deferred = true;
    return kNgDeferred;
  }
  size_t ready = std::min(there, bytes);
  if (there != 0) {
    const ssize_t result = self->output_->ReadyBytes(connection, ready);
    if (result < 0) return kNgStreamFailure;
    if (result == 0) {
      stream->is_deferred = true;
      return kNgDeferred;
    }
    ready = static_cast<size_t>(result);
  }
  // With TLS, each frame fills a TLS record, and one system call sends the records of a pass.
  constexpr size_t kFramed = limits::kTlsRecordBytes - kFrameHeaderBytes;
  const bool is_sealed = static_cast<Http2State*>(user)->connection->tls != nullptr;
  size_t count = is_sealed ? std::min(ready, kFramed) : ready;
  if (count != 0 && connection->is_throttled()) {
    count = self->output_->throttle()->Take(connection, count);
    if (count == 0) {
      stream->is_deferred = true;
      return kNgDeferred;
    }
    Throttle::Spend(connection, count);
  }
  if (count != 0) *flags |= kReadNoCopy;
  if (count < there || !stream->is_complete) return static_cast<ssize_t>(count);
  *flags |= kReadEof;
  if (!stream->trailers.empty() && ParseTrailers(stream->trailers, &self->trailers_)) {
    self->response_fields_.FillTrailers(self->trailers_);
    if (self->response_fields_.size() != 0) {
      *flags |= kReadNoEndStream;
      self->api_->submit_trailer(session, stream_id, self->response_fields_.data(),
                                 self->response_fields_.size());
    }
  }
  return static_cast<ssize_t>(count);
}

int Http2Responses::SendData(Ng* session, Frame* frame, const uint8_t* frame_header, size_t bytes,
                             NgSource* source, void*) {
  auto* self = static_cast<Http2Responses*>(source->pointer);
  if (self->connections_->IsWireFull()) return kNgWouldBlock;
  Connection* stream = Http2Connections::StreamOf(session, frame->stream_id);
  if (stream == nullptr) return kNgStreamFailure;
  if (!self->connections_->TakeOutput(stream, frame_header, bytes)) return kNgStreamFailure;
  self->OnProgress(stream);
  return 0;
}

int Http2Responses::OnFrameSent(Ng* session, const Frame* frame, void* user) {
  if (frame->type == kResetFrame) static_cast<Http2State*>(user)->used.OnReset(frame->stream_id);
  if (frame->type > kHeadersFrame || (frame->flags & kFlagEndStream) == 0) return 0;
  Connection* connection = Http2Connections::StreamOf(session, frame->stream_id);
  if (connection == nullptr) return 0;
  const Http2Stream& stream = *connection->stream;
  // The client need not send the rest of the request (RFC 9113, section 8.1).
  if (stream.closes && !stream.has_ended) {
    NgApi::Get()->submit_rst_stream(session, 0, frame->stream_id, kNoError);
  }
  return 0;
}

}  // namespace httpsys::engine
