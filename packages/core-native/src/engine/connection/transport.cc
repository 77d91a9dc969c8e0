#include "engine/connection/transport.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {

Transport::Transport(uv_loop_t* loop, std::atomic<uint32_t>* load, files::ReadAhead* ahead,
                     FileOutput::Post post)
    : watch_(loop, this),
      output_(loop, this, ahead, std::move(post)),
      timers_(loop, [this](Connection* connection) { OnTimeout(connection); }),
      connections_(load, &watch_, &timers_),
      slow_clients_(
          loop, [this](const auto& look) { ForEach(look); },
          [this](Connection* connection) { handler_->OnTooSlow(connection); }),
      endings_(&output_, &watch_, &timers_, &connections_, &announcer_) {}

void Transport::set_input_handler(InputHandler* handler) {
  handler_ = handler;
  announcer_.set_input_handler(handler);
  endings_.set_input_handler(handler);
}

void Transport::set_stream_handler(StreamHandler* handler) {
  streams_ = handler;
  output_.set_stream_handler(handler);
  watch_.set_stream_handler(handler);
  endings_.set_stream_handler(handler);
}

Connection* Transport::Open(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin) {
  watch_.NoteDescriptor(fd);
  Connection* connection = connections_.Make(fd, server, std::move(origin));
  if (connections_.BeginTls(connection)) return connection;
  Close(connection, 0);
  return nullptr;
}

void Transport::Watch(Connection* connection) {
  if (!connection->is_open()) return;
  if (connection->phase() != InputPhase::kAfterClose) return watch_.Update(connection);
  // The client sends nothing more, and most likely gets its answer before it gives up.
  watch_.LeaveAlone(connection, false);
}

bool Transport::RestartTls(Connection* connection, LaneServer* server) {
  // The slot of one attachment means nothing to another one, so the connection ends for the old
  // server.
  if (server->attachment != connection->server()->attachment) {
    announcer_.TellClosed(connection, 0, false);
  }
  ConnectionList::SetServer(connection, server);
  connection->tls.reset();
  return connections_.BeginTls(connection);
}

ssize_t Transport::Receive(Connection* connection, void* memory, size_t bytes) {
  if (connection->tls != nullptr) {
    const ssize_t opened = connection->tls->Read(memory, bytes);
    const int error = errno;
    if (connection->tls->has_unsent()) output_.BeginQueue(connection);
    errno = error;
    return opened;
  }
  ssize_t got;
  do {
    got = recv(connection->fd, memory, bytes, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return got;
}

ssize_t Transport::ReceivePlain(const Connection* connection, std::span<iovec> rooms) {
  msghdr message{};
  message.msg_iov = rooms.data();
  message.msg_iovlen = rooms.size();
  ssize_t got;
  do {
    got = recvmsg(connection->fd, &message, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return got;
}

void Transport::OnPeerEnded(Connection* connection) {
  Endings::SetPeerEnded(connection);
  SocketWatch::Pause(connection, kPauseOver);
  watch_.Update(connection);
}

void Transport::OnReadable(Connection* connection) {
  if (connection->list.life() == Life::kLingering) {
    endings_.OnLingerReadable(connection);
  } else if (connection->is_open()) {
    handler_->OnReadable(connection);
  }
}

void Transport::ReadNow(Connection* connection) {
  if (!connection->is_open() || connection->fd < 0 || connection->watch.pauses() != 0) return;
  handler_->OnReadable(connection);
  watch_.CheckPending(connection);
}

void Transport::OnQueueBegun(Connection* connection) {
  if (connection->fd >= 0) slow_clients_.Watch(*connection);
}

void Transport::OnTimeout(Connection* connection) {
  if (!connection->is_open()) {
    connections_.End(connection);
  } else if (connection->http2 != nullptr || connection->stream != nullptr) {
    streams_->OnTimer(connection);
  } else if (connection->output.queue() != nullptr && connection->end.is_left()) {
    // The client may still read: close only if the output has waited too long for a file.
    if (connection->HasWaitedForFile(limits::kLeftMs, timers_.NowMs())) return Close(connection, 0);
    timers_.Start(connection, limits::kLeftMs);
  } else if (connection->output.queue() != nullptr && connection->idle.timeout_ms() != 0) {
    // The connection is not idle: the client still reads the last response.
    timers_.Start(connection, connection->idle.timeout_ms());
  } else if (connection->IsHeldUp() && !connection->end.is_left() &&
             !connection->watch.is_disconnect_told()) {
    // The next request may have arrived in time: the lane has not read it, for lack of memory.
    const uint64_t timeout_ms = connection->idle.timeout_ms();
    timers_.Start(connection, timeout_ms != 0 ? timeout_ms : limits::kLeftMs);
  } else if (const uint64_t left_ms = IdleLeftMs(*connection); left_ms != 0) {
    // The end of the last answer was sent after the timer was started: wait for the rest.
    timers_.Start(connection, left_ms);
  } else if (connection->IsIdle() && connection->slot.is_announced() &&
             connection->server()->config->settings().hears_timeouts) {
    TellSilence(*connection, records::kFlagUnasked);
  } else {
    handler_->OnTimeout(connection);
  }
}

uint64_t Transport::IdleLeftMs(const Connection& connection) const {
  const uint32_t timeout_ms = connection.idle.timeout_ms();
  if (timeout_ms == 0 || !connection.IsIdle() || connection.end.is_left()) return 0;
  const uint32_t silent_ms = timers_.SilentMs(connection);
  return silent_ms < timeout_ms ? timeout_ms - silent_ms : 0;
}

void Transport::TellSilence(const Connection& connection, uint32_t flags) const {
  const bool is_between = connection.phase() == InputPhase::kHead &&
                          connection.message.has_served() && connection.message.unanswered() == 0 &&
                          connection.output.is_empty();
  if (is_between) flags |= records::kFlagBetween;
  if (connection.http2 != nullptr) flags |= records::kFlagFramed;
  if (!connection.output.is_empty()) flags |= records::kFlagUnsent;
  connection.attachment().records().Silence(connection.slot.number(), timers_.SilentMs(connection),
                                            connection.idle.active_ms(), flags);
}

void Transport::Shutdown() {
  endings_.CloseAll();
  FreeClosed();
  slow_clients_.Close();
  output_.Close();
  timers_.Close();
  watch_.Close();
}

}  // namespace httpsys::engine
