#include "engine/connection/socket_watch.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "engine/connection/connected_socket.h"

namespace httpsys::engine {
namespace {

int SocketError(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

// Returns true if the queue could not send even if its socket had room: it waits for bandwidth, or
// begins with a file that is being read. Bytes that TLS has already sealed can be sent in any case.
bool IsHeldBack(const Connection& connection) {
  if (!connection.is_held()) return false;
  if (connection.tls != nullptr && connection.tls->has_unsent()) return false;
  return connection.is_throttled() || connection.output.queue()->file_at(0).part != nullptr;
}

// Returns true if the lane must watch for the client's end although the connection is not read.
// Otherwise its unanswered requests would outlive the client.
bool WantsEnd(const Connection& connection) {
  const WatchState& watch = connection.watch;
  if (watch.pauses() == 0 || watch.is_disconnect_told()) return false;
  // With kPauseOver, the client's end is known, or the connection ends with its output, unless the
  // output is held.
  return (watch.pauses() & kPauseOver) == 0 ||
         (connection.is_held() && !connection.end.peer_ended());
}

}  // namespace

SocketWatch::SocketWatch(uv_loop_t* loop, WatchHandler* handler)
    : loop_(loop), handler_(handler), first_spared_(FirstSparedDescriptor()) {
  uv_timer_init(loop, &alone_timer_);
  uv_idle_init(loop, &pending_idle_);
  // OnPoll() finds the SocketWatch by the loop's data pointer, so a connection needs no pointer to
  // it.
  pending_idle_.data = loop->data = this;
}

void SocketWatch::Close() {
  uv_close(reinterpret_cast<uv_handle_t*>(&alone_timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&pending_idle_), nullptr);
}

void SocketWatch::Update(Connection* connection) {
  if (connection->list.life() == Life::kClosing) return;
  if (connection->stream != nullptr) return streams_->OnPausesChanged(connection);
  CheckPending(connection);
  WatchState& watch = connection->watch;
  int wanted = 0;
  if (watch.pauses_ == 0) wanted |= UV_READABLE;
  if (WantsEnd(*connection)) wanted |= UV_DISCONNECT;
  if (connection->output.queue() != nullptr && !IsHeldBack(*connection)) wanted |= UV_WRITABLE;
  if (wanted == watch.poll_events_ || !MakeWatchable(connection)) return;
  watch.poll_events_ = static_cast<uint8_t>(wanted);
  if (wanted == 0) {
    uv_poll_stop(&watch.poll_);
  } else {
    uv_poll_start(&watch.poll_, wanted, OnPoll);
  }
}

// Initializes the watcher on first need, because that takes three system calls, and a connection
// that is answered at once needs no watcher. On failure, returns false and ends the connection in
// the next turn of the loop, because the caller is still using it.
bool SocketWatch::MakeWatchable(Connection* connection) {
  WatchState& watch = connection->watch;
  if (watch.is_watchable_) return true;
  if (watch.is_unwatchable_) return false;
  watch.is_watchable_ = uv_poll_init(loop_, &watch.poll_, connection->fd) == 0;
  watch.is_unwatchable_ = !watch.is_watchable_;
  watch.poll_.data = connection;
  if (watch.is_unwatchable_) AddPending(connection);
  return watch.is_watchable_;
}

void SocketWatch::CheckPending(Connection* connection) {
  if (connection->tls == nullptr || connection->watch.pauses_ != 0 || !connection->is_open() ||
      !connection->tls->has_pending()) {
    return;
  }
  AddPending(connection);
}

void SocketWatch::AddPending(Connection* connection) {
  if (connection->watch.is_pending_) return;
  connection->watch.is_pending_ = true;
  if (pending_.empty()) uv_idle_start(&pending_idle_, OnPending);
  pending_.push_back(connection);
}

// Runs once per turn of the loop, so that other connections are handled in between.
void SocketWatch::OnPending(uv_idle_t* idle) {
  auto* self = static_cast<SocketWatch*>(idle->data);
  std::vector<Connection*> connections;
  connections.swap(self->pending_);
  uv_idle_stop(idle);
  for (Connection* connection : connections) connection->watch.is_pending_ = false;
  // Connections are freed only in a later turn of the loop, so the pointers stay valid.
  for (Connection* connection : connections) {
    if (connection->watch.is_unwatchable_) {
      self->handler_->OnWatchFailed(connection, ENOMEM);
      continue;
    }
    if (!connection->is_open() || connection->watch.pauses_ != 0) continue;
    self->handler_->OnReadable(connection);
    self->CheckPending(connection);
  }
}

void SocketWatch::OnPoll(uv_poll_t* poll, int status, int events) {
  auto* connection = static_cast<Connection*>(poll->data);
  auto* self = static_cast<SocketWatch*>(poll->loop->data);
  WatchState& watch = connection->watch;
  if (status < 0) {
    // libuv has stopped the watcher: the socket is in an error state.
    watch.poll_events_ = 0;
    if (watch.pauses_ == 0 && connection->is_open()) {
      // Read to find out what happened, as Node does: bytes before the reset are read first, and a
      // reset after the client's FIN is no error.
      self->handler_->OnReadable(connection);
      if (connection->is_open()) self->Update(connection);
      return;
    }
    const int error = SocketError(connection->fd);
    self->handler_->OnWatchFailed(connection, error != 0 ? error : ECONNRESET);
    return;
  }
  if ((events & UV_WRITABLE) != 0 && connection->output.queue() != nullptr) {
    self->handler_->OnWritable(connection);
  }
  if ((events & UV_DISCONNECT) != 0 && connection->is_open() && WantsEnd(*connection)) {
    watch.is_disconnect_told_ = true;
    self->Update(connection);
    self->handler_->OnDisconnect(connection);
    return;
  }
  if ((events & UV_READABLE) == 0) return;
  // The socket became ready while paused. Only now is a system call to stop watching worth its
  // cost.
  if (watch.pauses_ != 0 && connection->is_open()) return self->Update(connection);
  self->handler_->OnReadable(connection);
  self->CheckPending(connection);
}

void SocketWatch::LeaveAlone(Connection* connection, bool is_lingering) {
  connection->watch.is_left_alone_ = true;
  left_alone_.push_back({connection, uv_now(loop_), is_lingering});
}

void SocketWatch::NoteSpared(int fd) {
  // The limit on descriptors may have been raised since.
  first_spared_ = FirstSparedDescriptor();
  if (fd >= first_spared_) low_until_ms_ = uv_now(loop_) + limits::kDescriptorsLowMs;
}

void SocketWatch::LookAtOverdue() {
  if (left_alone_.empty()) return;
  const uint64_t now_ms = uv_now(loop_);
  const uint64_t alone_ms = AreDescriptorsLow() ? 0 : limits::kUnwatchedMs;
  while (!left_alone_.empty() && left_alone_.front().since_ms + alone_ms <= now_ms) {
    const auto [connection, since_ms, is_lingering] = left_alone_.front();
    left_alone_.pop_front();
    if (is_lingering) {
      connection->watch.is_left_alone_ = false;
      handler_->OnLingerDue(connection);
    } else if (connection->is_open()) {
      connection->watch.is_left_alone_ = false;
      Update(connection);
    }
  }
  if (left_alone_.empty()) return;
  // The timer only wakes the loop; LookAtOverdue() runs in each turn.
  uv_timer_start(&alone_timer_, [](uv_timer_t*) {}, limits::kUnwatchedWakeMs, 0);
}

bool SocketWatch::End(Connection* connection) {
  WatchState& watch = connection->watch;
  if (watch.is_pending_) std::erase(pending_, connection);
  if (watch.is_left_alone_) {
    std::erase_if(left_alone_,
                  [=](const LeftAlone& each) { return each.connection == connection; });
  }
  if (!watch.is_watchable_) return false;
  uv_close(reinterpret_cast<uv_handle_t*>(&watch.poll_), OnPollClosed);
  return true;
}

void SocketWatch::OnPollClosed(uv_handle_t* handle) {
  auto* self = static_cast<SocketWatch*>(handle->loop->data);
  self->handler_->OnUnwatched(static_cast<Connection*>(handle->data));
}

}  // namespace httpsys::engine
