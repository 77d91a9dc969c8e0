#include "engine/http1/http1_session.h"

#include <sys/ioctl.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace httpsys::engine {
namespace {

using records::ErrorKind;

// A block that is filled less than this is shrunk, so that JavaScript does not keep what it cannot
// see.
constexpr size_t kShrinkBelowBytes = limits::kBlockBytes / 4 * 3;

constexpr int kGoodbyeBytesMax = 40;

bool IsUpgraded(InputPhase phase) {
  return phase == InputPhase::kUndecided || phase == InputPhase::kOpaque ||
         phase == InputPhase::kWebSocket;
}

bool CountsForWindow(InputPhase phase) {
  return phase == InputPhase::kBodyLength || phase == InputPhase::kBodyChunked ||
         phase == InputPhase::kOpaque;
}

}  // namespace

Http1Session::Http1Session(const http1::MethodTable* methods, RequestQueue* queue,
                           RecordWriter* records, Transport* transport, RequestRouter* router,
                           WebSocketSession* websockets, RefusedRequests* refused)
    : methods_(methods),
      head_method_(methods->Find("HEAD")),
      queue_(queue),
      records_(records),
      transport_(transport),
      router_(router),
      websockets_(websockets),
      refused_(refused),
      buffer_(limits::kReadBytes),
      parser_(std::make_unique<http1::RequestParser>(methods)) {}

uint64_t Http1Session::Now() {
  if (now_ns_ == 0) now_ns_ = uv_hrtime();
  return now_ns_;
}

// -- Reading.

void Http1Session::OnReadable(Connection* connection) {
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    if (queue_->stalled()) {
      PauseForMemory(connection);
      transport_->UpdatePoll(connection);
      return;
    }
    if (!ReadOnce(connection) || !connection->is_open() || connection->pauses != 0) return;
  }
}

// Requests behind the last one that was delivered are lost with their client. Where some are still
// in the socket, the end is met when they are read.
void Http1Session::OnDisconnect(Connection* connection) {
  // A goodbye of TLS is no request: the shortest one with its record is longer.
  const int unread_max = connection->tls == nullptr ? 0 : kGoodbyeBytesMax;
  int unread = 0;
  if (ioctl(connection->fd, FIONREAD, &unread) != 0 || unread > unread_max) return;
  OnReadFailed(connection, 0);
}

void Http1Session::PauseForMemory(Connection* connection) {
  is_stalled_ = true;
  transport_->Pause(connection, kPauseMemory);
}

// True when there is probably more to read.
bool Http1Session::ReadOnce(Connection* connection) {
  size_t bytes_max = buffer_.size();
  if (connection->phase == InputPhase::kWebSocket) return ReadWebSocket(connection);
  if (connection->phase == InputPhase::kUndecided && !KeepUndecided(connection)) return false;
  if (CountsForWindow(connection->phase)) {
    if (connection->window_bytes <= 0) {
      // Still watched: most often JavaScript makes room before the next poll.
      transport_->Pause(connection, kPauseWindow);
      return false;
    }
    const auto window = static_cast<uint64_t>(connection->window_bytes);
    if (connection->phase == InputPhase::kBodyLength && connection->partial == nullptr &&
        std::min(window, connection->body_bytes) >= limits::kDirectReadBytesMin) {
      return ReadIntoBlock(connection);
    }
    bytes_max = std::min<uint64_t>(bytes_max, window);
  }
  const ssize_t got = transport_->Receive(connection, buffer_.data(), bytes_max);
  if (got <= 0) {
    OnReadFailed(connection, got == 0 ? 0 : errno);
    return false;
  }
  const auto bytes = static_cast<size_t>(got);
  Receive(connection, {buffer_.data(), bytes});
  return bytes == bytes_max;
}

bool Http1Session::ReadWebSocket(Connection* connection) {
  if (connection->window_bytes <= 0) {
    transport_->Pause(connection, kPauseWindow);
    return false;
  }
  std::span<char> room;
  if (connection->partial == nullptr) room = websockets_->Room(connection);
  const bool is_direct = !room.empty();
  if (!is_direct) room = buffer_;
  const ssize_t got = transport_->Receive(connection, room.data(), room.size());
  if (got <= 0) {
    OnReadFailed(connection, got == 0 ? 0 : errno);
    return false;
  }
  const auto bytes = static_cast<size_t>(got);
  if (is_direct) {
    websockets_->ReadInPlace(connection, bytes);
  } else {
    Receive(connection, {room.data(), bytes});
  }
  return bytes == room.size();
}

// False when enough is kept.
bool Http1Session::KeepUndecided(Connection* connection) {
  if (!Transport::IsUndecidedFull(*connection)) return true;
  transport_->Pause(connection, kPauseUpgrade);
  transport_->CloseIfRefusedUpgrade(connection);
  return false;
}

bool Http1Session::ReadIntoBlock(Connection* connection) {
  const uint64_t allowed =
      std::min(connection->body_bytes, static_cast<uint64_t>(connection->window_bytes));
  const size_t bytes_max = std::min<uint64_t>(limits::kBlockBytes, allowed);
  const ssize_t got = transport_->Receive(connection, BlockMemory(), bytes_max);
  if (got <= 0) {
    OnReadFailed(connection, got == 0 ? 0 : errno);
    return false;
  }
  const auto bytes = static_cast<size_t>(got);
  TimeAnsweredBody(connection);
  connection->window_bytes -= got;
  connection->body_bytes -= bytes;
  DeliverBlock(connection, bytes);
  if (connection->body_bytes == 0) {
    records_->BodyEnd(connection->slot, {});
    MessageDone(connection);
  }
  return bytes == bytes_max;
}

// Where the next piece is received: in a block that JavaScript lent, otherwise in one of its own.
uint8_t* Http1Session::BlockMemory() {
  if (loan_.memory == nullptr) loan_ = queue_->receive_blocks().Take();
  if (loan_.memory != nullptr) return loan_.memory;
  if (spare_block_.memory == nullptr) {
    spare_block_.memory.reset(static_cast<uint8_t*>(std::malloc(limits::kBlockBytes)));
    HTTPSYS_CHECK(spare_block_.memory != nullptr);
  }
  return spare_block_.memory.get();
}

// Hands over what was received in BlockMemory().
void Http1Session::DeliverBlock(Connection* connection, size_t bytes) {
  if (bytes <= limits::kInlinePieceBytesMax) {
    records_->Body(connection->slot, {reinterpret_cast<const char*>(BlockMemory()), bytes});
    return;
  }
  if (loan_.memory != nullptr) {
    records_->BodyLent(connection->slot, std::exchange(loan_, {}).id, bytes);
    return;
  }
  Block block = std::move(spare_block_);
  block.bytes = bytes;
  if (bytes < kShrinkBelowBytes) {
    if (void* smaller = std::realloc(block.memory.get(), bytes)) {
      (void)block.memory.release();
      block.memory.reset(static_cast<uint8_t*>(smaller));
    }
  }
  records_->BodyBlock(connection->slot, std::move(block));
}

// `error` 0 is the end of the peer's data.
void Http1Session::OnReadFailed(Connection* connection, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) return;
  if (error != 0) {
    transport_->Close(connection, error);
    return;
  }
  if (connection->phase == InputPhase::kUndecided &&
      (connection->partial != nullptr || connection->given_bytes != 0)) {
    // What came before is told first, when JavaScript has decided; the end is met again then.
    transport_->Pause(connection, kPauseUpgrade);
    records_->Eof(connection->slot, records::kFlagUndecided);
    return;
  }
  connection->peer_ended = true;
  transport_->Pause(connection, kPauseOver);
  transport_->UpdatePoll(connection);
  OnEof(connection);
}

void Http1Session::OnEof(Connection* connection) {
  const InputPhase phase = connection->phase;
  if (router_->RelayEnd(connection)) {
    // Who answers decides what it means.
    if (phase != InputPhase::kRelayOpaque) connection->phase = InputPhase::kOver;
    if (phase == InputPhase::kRelayOpaque && connection->is_fin_sent)
      transport_->Close(connection, 0);
    return;
  }
  if (phase == InputPhase::kHttp2) return http2_->OnEof(connection);
  // Of a stream that is no tunnel only a reset ends the client's direction.
  const bool is_stream = connection->origin != nullptr && connection->origin->is_stream;
  if (is_stream && !IsUpgraded(phase)) return transport_->Close(connection, 0);
  if (IsUpgraded(phase) || phase == InputPhase::kRefused) {
    records_->Eof(connection->slot);
    if (connection->is_fin_sent) transport_->Close(connection, 0);
    return;
  }
  connection->phase = InputPhase::kOver;
  TellEnd(connection, phase);
  // Both directions have ended, and JavaScript counts on this close.
  if (connection->is_fin_sent) transport_->Close(connection, 0);
}

// JavaScript was told of it and of nothing else. It ends such a connection: who sees the end knows
// then that 'connection' was there before.
bool IsJustOpened(const Connection& connection) {
  return connection.is_announced && !connection.has_served && connection.tls == nullptr;
}

// The end of a connection that is not upgraded; `phase` is what it came in.
void Http1Session::TellEnd(Connection* connection, InputPhase phase) {
  if (connection->parser != nullptr && phase == InputPhase::kHead) {
    const auto partial = std::move(connection->partial);
    Refuse(connection, ErrorKind::kIncomplete,
           partial == nullptr ? "" : std::string_view(*partial));
  } else if (phase == InputPhase::kBodyLength || phase == InputPhase::kBodyChunked) {
    const auto raw = std::move(connection->raw);
    Refuse(connection, ErrorKind::kIncomplete, raw == nullptr ? "" : std::string_view(*raw));
  } else if ((connection->unanswered != 0 || IsJustOpened(*connection)) &&
             !connection->is_fin_sent) {
    records_->Eof(connection->slot);
  } else {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    transport_->Flush(connection);
  }
}

void Http1Session::Receive(Connection* connection, std::string_view bytes) {
  if (connection->partial != nullptr) {
    connection->partial->append(bytes);
    ConsumePartial(connection);
    return;
  }
  const size_t used = Consume(connection, bytes);
  if (connection->is_open() && used < bytes.size()) {
    connection->partial = std::make_unique<std::string>(bytes.substr(used));
  }
}

void Http1Session::ConsumePartial(Connection* connection) {
  // Out of the connection meanwhile, so that its bytes stay where they are.
  std::unique_ptr<std::string> partial = std::move(connection->partial);
  const size_t used = Consume(connection, *partial);
  if (!connection->is_open()) return;
  if (used != partial->size()) {
    partial->erase(0, used);
    connection->partial = std::move(partial);
  } else if (IsIdle(connection) && !connection->is_timer_running() &&
             connection->idle_timeout_ms != 0) {
    // Nothing but line ends was kept back when the last answer left.
    transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
    if (connection->server->is_unlistened) LookWhetherIdle(connection);
  }
}

void Http1Session::ResumeInput(Connection* connection, PauseReason reason) {
  if (!transport_->Resume(connection, reason)) return;
  if (queue_->stalled()) {
    PauseForMemory(connection);
  } else if (connection->partial != nullptr) {
    ConsumePartial(connection);
  }
  if (connection->is_open()) transport_->UpdatePoll(connection);
}

void Http1Session::ResumeWanted(const std::vector<Connection*>& touched) {
  for (Connection* connection : touched) {
    if (!connection->wants_input_resumed || !connection->is_open()) continue;
    connection->wants_input_resumed = false;
    router_->OnOutputDone(connection);
    if (!Transport::IsBehind(*connection)) transport_->Resume(connection, kPauseOutput);
    ResumeInput(connection, kPausePipeline);
    if (connection->is_open() && connection->unanswered == 0 && !connection->is_waiting) {
      ResumeInput(connection, kPauseOrder);
    }
    if (connection->is_open() && connection->server->is_unlistened) EndIdle(connection);
  }
}

// As soon as its output has been given to the socket, and what is left of its input has been read.
void Http1Session::LookWhetherIdle(Connection* connection) {
  connection->wants_input_resumed = true;
  transport_->Touch(connection);
}

void Http1Session::EndIdle(Connection* connection) {
  if (!IsIdle(connection) || router_->MoveAway(connection)) return;
  if (!connection->server->config->settings().ends_idle) return;
  transport_->FinishAfterOutput(connection, AfterOutput::kClose);
}

// -- What JavaScript decides.

void Http1Session::OnAnswered(Connection* connection) {
  connection->ForgetMoves();
  if (connection->origin != nullptr) router_->OnRelayedAnswer(connection);
  if (connection->unanswered != 0) --connection->unanswered;
  const uint32_t most = connection->server->config->settings().pipelined_requests_max;
  if (connection->unanswered == 0) {
    // Of what was upgraded, or refused, JavaScript decides when it ends.
    const bool is_over = connection->peer_ended && connection->phase != InputPhase::kRefused &&
                         !IsUpgraded(connection->phase);
    if (connection->phase == InputPhase::kAfterClose || is_over) {
      transport_->FinishAfterOutput(connection, AfterOutput::kClose);
      return;
    }
    if (connection->phase == InputPhase::kHead && connection->partial == nullptr &&
        connection->idle_timeout_ms != 0) {
      transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
    }
    if (connection->phase == InputPhase::kBodyLength ||
        connection->phase == InputPhase::kBodyChunked) {
      TimeAnsweredBody(connection);
    }
    if ((connection->pauses & kPauseOrder) != 0 || connection->server->is_unlistened) {
      connection->wants_input_resumed = true;
    }
  }
  if ((connection->pauses & kPausePipeline) != 0 && connection->unanswered < most) {
    connection->wants_input_resumed = true;
  }
}

void Http1Session::OnWindow(Connection* connection, uint32_t bytes) {
  connection->window_bytes =
      std::min(connection->window_bytes + int64_t{bytes}, limits::kReceiveWindowBytes);
  if ((connection->pauses & kPauseWindow) != 0 && connection->window_bytes > 0) {
    ResumeInput(connection, kPauseWindow);
  }
}

void Http1Session::OnUpgradeAccept(Connection* connection, bool is_undecided) {
  if (connection->phase == InputPhase::kUndecided) return Decide(connection, InputPhase::kOpaque);
  if (connection->phase != InputPhase::kAwaitUpgrade) return;
  if (connection->origin != nullptr) router_->OnRelayedUpgrade(connection, true);
  connection->phase = is_undecided ? InputPhase::kUndecided : InputPhase::kOpaque;
  connection->unanswered = 0;
  if (connection->partial != nullptr) {
    connection->partial->erase(0, connection->given_bytes);
    if (connection->partial->empty()) connection->partial.reset();
  }
  connection->decoder.reset();
  connection->raw.reset();
  if (!is_undecided) connection->given_bytes = 0;
  ResumeInput(connection, kPauseUpgrade);
}

void Http1Session::OnWebSocket(Connection* connection, std::string_view head) {
  HTTPSYS_CHECK(connection->phase == InputPhase::kUndecided);
  if (!head.empty()) {
    if (connection->partial == nullptr) connection->partial = std::make_unique<std::string>();
    connection->partial->insert(0, head);
  }
  Decide(connection, InputPhase::kWebSocket);
}

void Http1Session::Decide(Connection* connection, InputPhase phase) {
  connection->phase = phase;
  connection->given_bytes = 0;
  ResumeInput(connection, kPauseUpgrade);
}

void Http1Session::OnUpgradeDecline(Connection* connection) {
  if (connection->phase != InputPhase::kAwaitUpgrade) return;
  if (connection->origin != nullptr) router_->OnRelayedUpgrade(connection, false);
  connection->given_bytes = 0;
  connection->phase = connection->declined_phase;
  if (connection->phase == InputPhase::kHead) {
    MessageDone(connection);
  } else {
    connection->message_start_ns = Now();
  }
  ResumeInput(connection, kPauseUpgrade);
}

// What follows a refused message is refused too, as llhttp does in its error state. A body that
// came too late or is too large would be fine by itself: it is thrown away.
void Http1Session::RefuseMore(Connection* connection, std::string_view input) {
  if (connection->refusal == ErrorKind::kTimeout ||
      connection->refusal == ErrorKind::kBodyTooLarge) {
    return;
  }
  records_->Error(connection->slot, connection->refusal, input.substr(0, limits::kRawBytesMax));
}

void Http1Session::CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns,
                                 uint64_t request_ns) {
  if (connection->http2 != nullptr) return http2_->CheckTimeouts(connection, now_ns, headers_ns);
  if (connection->stream != nullptr) {
    return http2_->CheckStreamTimeouts(connection, now_ns, request_ns);
  }
  if (!connection->is_open() || connection->message_start_ns == 0 ||
      connection->after_output == AfterOutput::kClose) {
    return;
  }
  const uint64_t age_ns = now_ns - std::min(now_ns, connection->message_start_ns);
  const bool headers_late =
      connection->phase == InputPhase::kHead && headers_ns != 0 && age_ns > headers_ns;
  if (!headers_late && (request_ns == 0 || age_ns <= request_ns)) return;
  if (connection->phase == InputPhase::kSkipLength ||
      connection->phase == InputPhase::kSkipChunked) {
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    transport_->Flush(connection);
    return;
  }
  const auto partial = std::move(connection->partial);
  Refuse(connection, ErrorKind::kTimeout, partial == nullptr ? "" : std::string_view(*partial));
}

void Http1Session::TimeAnsweredBody(Connection* connection) {
  if (connection->unanswered != 0 || connection->idle_timeout_ms == 0) return;
  transport_->StartIdleTimer(connection, connection->idle_timeout_ms);
}

bool Http1Session::IsIdle(const Connection* connection) {
  return connection->phase == InputPhase::kHead && connection->has_served &&
         connection->unanswered == 0 && connection->message_start_ns == 0 &&
         connection->partial == nullptr;
}

bool Http1Session::IsUnserved(const Connection* connection) {
  return connection->phase == InputPhase::kHead && !connection->has_served &&
         connection->parser == nullptr && connection->partial == nullptr;
}

}  // namespace httpsys::engine
