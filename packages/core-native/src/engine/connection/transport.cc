#include "engine/connection/transport.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "engine/connection/socket_options.h"
#include "records/addresses.h"

namespace httpsys::engine {
namespace {

// Reads of lingering input; it is thrown away, so the size only matters for the number of calls.
constexpr size_t kDiscardBytes = 16 * 1024;

int SocketError(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

Transport::Transport(uv_loop_t* loop, RecordWriter* records, LentMemory* lent,
                     std::atomic<uint32_t>* load)
    : loop_(loop), records_(records), output_(loop, records, lent, this), load_(load) {
  uv_timer_init(loop, &timer_);
  uv_timer_init(loop, &rate_timer_);
  uv_timer_init(loop, &unwatched_timer_);
  uv_idle_init(loop, &pending_idle_);
  // Of the loop: connections find their transport by it, without a pointer each.
  timer_.data = rate_timer_.data = unwatched_timer_.data = pending_idle_.data = loop->data = this;
}

// -- Connections and slots.

Connection* Transport::Open(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin) {
  auto* connection = new Connection;
  const ServerSettings& settings = server->config->settings();
  connection->addresses = std::make_unique<Addresses>(
      origin == nullptr ? DescribeConnection(fd, nullptr) : origin->addresses);
  const Addresses& addresses = *connection->addresses;
  if (addresses.family != 0 && origin == nullptr) {
    if (settings.no_delay) SetNoDelay(fd, true);
    if (settings.keep_alive) SetKeepAlive(fd, true, settings.keep_alive_delay_s);
  }
  SuppressSigpipe(fd);
  connection->server = server;
  connection->fd = fd;
  connection->window_bytes = limits::kReceiveWindowBytes;
  connection->message_start_ns = uv_hrtime();
  connection->origin = std::move(origin);
  connection->local_port = addresses.local_port;
  connection->local_ip = addresses.local_ip;
  Link(connection, server);
  if (!BeginTls(connection)) {
    Close(connection, 0);
    return nullptr;
  }
  return connection;
}

void Transport::Watch(Connection* connection) {
  if (!connection->is_open()) return;
  if (connection->phase() != InputPhase::kAfterClose) return UpdatePoll(connection);
  // It sends nothing more, and is most likely answered before it gives up.
  connection->is_unwatched = true;
  unwatched_.push_back({connection, uv_now(loop_), false});
}

Connection* Transport::OpenStream(Connection* parent, LaneServer* server,
                                  std::unique_ptr<Http2Stream> stream) {
  auto* connection = new Connection(InputPhase::kStream);
  connection->server = server;
  connection->window_bytes = limits::kReceiveWindowBytes;
  connection->local_port = parent->local_port;
  connection->local_ip = parent->local_ip;
  connection->hops = parent->hops;
  connection->stream = std::move(stream);
  Link(connection, server);
  return connection;
}

void Transport::Link(Connection* connection, LaneServer* server) {
  connection->next = first_;
  if (first_ != nullptr) first_->previous = connection;
  first_ = connection;
  ++allocated_;
  ++server->connections;
}

void Transport::Unlink(Connection* connection) {
  (connection->previous == nullptr ? first_ : connection->previous->next) = connection->next;
  if (connection->next != nullptr) connection->next->previous = connection->previous;
}

bool Transport::RestartTls(Connection* connection, LaneServer* server) {
  SetServer(connection, server);
  connection->tls.reset();
  return BeginTls(connection);
}

// False when out of memory.
bool Transport::BeginTls(Connection* connection) {
  const ServerConfig& config = *connection->server->config;
  std::shared_ptr<const tls::ServerContext> context =
      config.TlsOf(connection->local_port, connection->local_ip);
  if (context == nullptr || connection->origin != nullptr) return true;
  const uint64_t timeout_ms = context->settings().handshake_timeout_ms;
  const tls::Maker maker{connection->server->id, config.settings().listening};
  connection->tls = tls::Session::Create(std::move(context), connection->fd, &wire_,
                                         connection->local_port, maker);
  if (connection->tls == nullptr) return false;
  connection->Enter(InputPhase::kHandshake);
  connection->message_start_ns = 0;
  if (timeout_ms != 0) StartIdleTimer(connection, timeout_ms);
  return true;
}

void Transport::Announce(Connection* connection, uint32_t flags) {
  if (connection->is_announced) return;
  connection->is_announced = true;
  connection->is_shared = (flags & records::kFlagShared) != 0;
  connection->slot = TakeSlot(connection);
  if (connection->stream != nullptr) return;
  if (handler_ != nullptr) handler_->OnAnnounced(connection);
  // Kept until now; asked again when it goes from one server to another.
  std::unique_ptr<Addresses> addresses = std::move(connection->addresses);
  if (addresses == nullptr) {
    addresses = std::make_unique<Addresses>(DescribeConnection(connection->fd, nullptr));
  }
  const bool has_secrets = connection->tls != nullptr && (flags & records::kFlagPending) == 0;
  if (has_secrets) records_->KeyLog(connection->slot, connection->tls->TakeKeyLog());
  std::string facts;
  if (connection->tls != nullptr) facts = EncodeFacts(connection->tls->Describe());
  if (connection->origin != nullptr) facts = connection->origin->facts;
  records_->Open(connection->slot, connection->server->id, *addresses, flags, facts);
}

void Transport::AnnounceAnew(Connection* connection, uint32_t flags) {
  const bool was_announced = connection->is_announced;
  const uint32_t before = connection->slot;
  connection->is_announced = false;
  Announce(connection, flags);
  if (!was_announced) return;
  records_->Closed(before, 0, false);
  slots_[before].connection = nullptr;
  slots_[before].is_closed = true;
  FreeSlotIfDone(before);
}

void Transport::Assign(Connection* connection, LaneServer* server) {
  if (connection->server != server) {
    TellClosed(connection, 0);
    --connection->server->connections;
    ++server->connections;
    connection->server = server;
    connection->window_bytes = limits::kReceiveWindowBytes;
    connection->credit_bytes = 0;
    connection->idle_timeout_ms = 0;
  }
  Announce(connection, records::kFlagShared);
}

int Transport::Release(Connection* connection) {
  const int fd = connection->fd;
  Detach(connection, 0, !connection->server->is_unlistened);
  connection->life = Life::kClosing;
  CloseHandle(connection);
  return fd;
}

uint32_t Transport::TakeSlot(Connection* connection) {
  uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot] = {connection, false, false};
  return slot;
}

Connection* Transport::Find(uint32_t slot) const {
  return slot < slots_.size() ? slots_[slot].connection : nullptr;
}

void Transport::ReleaseSlot(uint32_t slot) {
  HTTPSYS_CHECK(slot < slots_.size() && !slots_[slot].is_released);
  slots_[slot].is_released = true;
  FreeSlotIfDone(slot);
}

void Transport::FreeSlotIfDone(uint32_t slot) {
  if (slots_[slot].is_closed && slots_[slot].is_released) free_slots_.push_back(slot);
}

// -- Readiness.

void Transport::UpdatePoll(Connection* connection) {
  if (connection->life == Life::kClosing) return;
  if (connection->stream != nullptr) return streams_->OnPausesChanged(connection);
  CheckPending(connection);
  int wanted = 0;
  if (connection->pauses == 0) wanted |= UV_READABLE;
  // Requests that nobody answers would otherwise outlive their client.
  if (connection->pauses == kPausePipeline && !connection->is_disconnect_told &&
      !connection->server->config->settings().allow_half_open) {
    wanted |= UV_DISCONNECT;
  }
  if (connection->queue != nullptr) wanted |= UV_WRITABLE;
  if (wanted == connection->poll_events || !MakeWatchable(connection)) return;
  connection->poll_events = static_cast<uint8_t>(wanted);
  if (wanted == 0) {
    uv_poll_stop(&connection->poll);
  } else {
    uv_poll_start(&connection->poll, wanted, OnPoll);
  }
}

// Three calls of the kernel, which a connection that brings its request and is answered at once
// does without. False when it must end: its caller is in the middle of something.
bool Transport::MakeWatchable(Connection* connection) {
  if (connection->is_watchable) return true;
  if (connection->is_unwatchable) return false;
  connection->is_watchable = uv_poll_init(loop_, &connection->poll, connection->fd) == 0;
  connection->is_unwatchable = !connection->is_watchable;
  connection->poll.data = connection;
  if (connection->is_unwatchable) AddPending(connection);
  return connection->is_watchable;
}

void Transport::CheckPending(Connection* connection) {
  if (connection->tls == nullptr || connection->pauses != 0 || !connection->is_open() ||
      !connection->tls->has_pending()) {
    return;
  }
  AddPending(connection);
}

void Transport::AddPending(Connection* connection) {
  if (connection->is_pending) return;
  connection->is_pending = true;
  if (pending_.empty()) uv_idle_start(&pending_idle_, OnPending);
  pending_.push_back(connection);
}

// Once per turn of the loop, so that others get theirs.
void Transport::OnPending(uv_idle_t* idle) {
  auto* self = static_cast<Transport*>(idle->data);
  std::vector<Connection*> connections;
  connections.swap(self->pending_);
  uv_idle_stop(idle);
  for (Connection* connection : connections) connection->is_pending = false;
  // None of them is freed before the loop goes on.
  for (Connection* connection : connections) {
    if (connection->is_unwatchable) {
      self->Close(connection, ENOMEM);
      self->CloseDescriptor(connection);
      continue;
    }
    if (!connection->is_open() || connection->pauses != 0) continue;
    self->handler_->OnReadable(connection);
    self->CheckPending(connection);
  }
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

void Transport::Pause(Connection* connection, PauseReason reason) {
  connection->pauses = static_cast<uint8_t>(connection->pauses | reason);
}

bool Transport::Resume(Connection* connection, PauseReason reason) {
  connection->pauses = static_cast<uint8_t>(connection->pauses & ~reason);
  return connection->pauses == 0;
}

void Transport::OnPeerEnded(Connection* connection) {
  connection->peer_ended = true;
  Pause(connection, kPauseOver);
  UpdatePoll(connection);
}

void Transport::OnPoll(uv_poll_t* poll, int status, int events) {
  auto* connection = static_cast<Connection*>(poll->data);
  auto* self = static_cast<Transport*>(poll->loop->data);
  if (status < 0) {
    // libuv has stopped the watcher: the socket is in an error state.
    connection->poll_events = 0;
    const int error = SocketError(connection->fd);
    if (connection->is_open()) {
      self->Close(connection, error != 0 ? error : ECONNRESET);
    } else {
      self->CloseDescriptor(connection);
    }
    return;
  }
  if ((events & UV_WRITABLE) != 0 && connection->queue != nullptr)
    self->output_.OnWritable(connection);
  if ((events & UV_DISCONNECT) != 0 && connection->is_open() &&
      connection->pauses == kPausePipeline) {
    connection->is_disconnect_told = true;
    self->UpdatePoll(connection);
    self->handler_->OnDisconnect(connection);
    return;
  }
  if ((events & UV_READABLE) == 0) return;
  if (connection->life == Life::kLingering) {
    self->ReadLingering(connection);
  } else if (connection->is_open()) {
    // Readiness while paused: only now is it worth a system call to stop watching.
    if (connection->pauses != 0) {
      self->UpdatePoll(connection);
    } else {
      self->handler_->OnReadable(connection);
      self->CheckPending(connection);
    }
  }
}

// -- Timers.

void Transport::StartIdleTimer(Connection* connection, uint64_t timeout_ms) {
  if (timers_.Start(connection, uv_now(loop_), timeout_ms)) ArmTimer();
}

void Transport::StopTimer(Connection* connection) { timers_.Stop(connection); }

void Transport::ArmTimer() {
  const uint64_t deadline = timers_.NextDeadline();
  // Firing early is harmless, so a later deadline does not move the timer.
  if (deadline >= timer_deadline_ms_) return;
  timer_deadline_ms_ = deadline;
  const uint64_t now = uv_now(loop_);
  uv_timer_start(&timer_, OnTimer, deadline > now ? deadline - now : 0, 0);
}

void Transport::OnTimer(uv_timer_t* timer) {
  auto* self = static_cast<Transport*>(timer->data);
  self->timer_deadline_ms_ = UINT64_MAX;
  const uint64_t now = uv_now(self->loop_);
  while (TimerNode* node = self->timers_.TakeExpired(now)) {
    auto* connection = static_cast<Connection*>(node);
    if (!connection->is_open()) {
      self->CloseDescriptor(connection);
    } else if (connection->http2 != nullptr || connection->stream != nullptr) {
      self->streams_->OnTimer(connection);
    } else if (connection->queue != nullptr && connection->idle_timeout_ms != 0) {
      // Not idle: the peer still reads the last response.
      self->timers_.Start(node, now, connection->idle_timeout_ms);
    } else {
      self->handler_->OnTimeout(connection);
    }
  }
  self->ArmTimer();
}

// -- Clients that take too little.

void Transport::OnQueueBegun(Connection* connection) {
  if (connection->fd >= 0) ArmRateTimer(*connection);
}

void Transport::ArmRateTimer(const Connection& connection) {
  const ServerSettings& settings = connection.server->config->settings();
  if (settings.send_rate_min == 0) return;
  const uint64_t look_ms = std::max<uint64_t>(settings.send_rate_ms / SendRateWatch::kLooks, 1);
  const bool is_set = uv_is_active(reinterpret_cast<uv_handle_t*>(&rate_timer_)) != 0;
  if (is_set && uv_timer_get_due_in(&rate_timer_) <= look_ms) return;
  uv_timer_start(&rate_timer_, OnRateTimer, look_ms, 0);
}

void Transport::OnRateTimer(uv_timer_t* timer) {
  auto* self = static_cast<Transport*>(timer->data);
  // A connection of HTTP/2 takes its streams along.
  std::vector<Connection*> slow;
  self->ForEach([&](Connection* connection) {
    if (!connection->is_open() || connection->queue == nullptr || connection->fd < 0) return;
    if (self->IsTooSlow(*connection)) {
      slow.push_back(connection);
    } else {
      self->ArmRateTimer(*connection);
    }
  });
  for (Connection* connection : slow) {
    if (connection->is_open()) self->handler_->OnTooSlow(connection);
  }
}

bool Transport::IsTooSlow(const Connection& connection) const {
  const ServerSettings& settings = connection.server->config->settings();
  // What was upgraded is no business of HTTP's limits.
  const bool is_upgraded = connection.phase() == InputPhase::kUndecided ||
                           connection.phase() == InputPhase::kOpaque ||
                           connection.phase() == InputPhase::kWebSocket ||
                           connection.phase() == InputPhase::kRelayOpaque;
  if (settings.send_rate_min == 0 || is_upgraded) return false;
  OutputQueue& queue = *connection.queue;
  return queue.rate().IsTooSlow(
      uv_now(loop_), queue.removed(), settings.send_rate_min, settings.send_rate_ms,
      [&](Acknowledged* to) { return ReadAcknowledged(connection.fd, to); });
}

// -- Ends.

void Transport::FinishAfterOutput(Connection* connection, AfterOutput action) {
  if (action > connection->after_output) connection->after_output = action;
  if (connection->after_output == AfterOutput::kClose) {
    if (connection->phase() == InputPhase::kAfterClose) connection->has_read_all = true;
    // The application ends an upgraded connection by itself: what a relay gets of it is whole.
    if (handler_ != nullptr && IsTunnel(connection->phase())) handler_->OnOutputEnding(connection);
    connection->Enter(InputPhase::kOver);
    Pause(connection, kPauseOver);
  }
  output_.Touch(connection);
}

void Transport::FinishNow(Connection* connection) {
  connection->after_output = AfterOutput::kClose;
  connection->Enter(InputPhase::kOver);
  Pause(connection, kPauseOver);
  if (connection->queue == nullptr) OnOutputDone(connection);
}

void Transport::OnOutputDone(Connection* connection) {
  switch (connection->after_output) {
    case AfterOutput::kNothing:
      // Its next request may be another server's.
      if ((connection->pauses & (kPauseOrder | kPauseOutput)) != 0 ||
          connection->relay != nullptr) {
        connection->wants_input_resumed = true;
      }
      return;
    case AfterOutput::kShutdown:
      if (connection->tls != nullptr && !connection->is_fin_sent && !connection->tls->Shutdown()) {
        output_.BeginQueue(connection);  // This is called again when it is sent.
        return;
      }
      if (connection->peer_ended) {
        connection->is_fin_sent = true;  // As good as.
        Close(connection, 0);
      } else if (!connection->is_fin_sent) {
        connection->is_fin_sent = true;
        if (handler_ != nullptr) handler_->OnOutputEnding(connection);
        shutdown(connection->fd, SHUT_WR);
        CloseIfRefusedUpgrade(connection);
      }
      return;
    case AfterOutput::kClose:
      // As on Node where Node could listen; who has closed the server waits for its connections.
      CloseLingering(connection, connection->is_shared && connection->unanswered == 0 &&
                                     !connection->server->is_unlistened);
      return;
  }
}

void Transport::Detach(Connection* connection, int error, bool is_told_late) {
  StopTimer(connection);
  if (connection->http2 != nullptr || connection->stream != nullptr) {
    streams_->OnDetach(connection);
  }
  output_.Drop(connection);
  TellClosed(connection, error, is_told_late);
  if (handler_ != nullptr) handler_->OnDetached(connection);
  --connection->server->connections;
  connection->server = nullptr;
  if (connection->stream == nullptr) load_->fetch_sub(1, std::memory_order_relaxed);
}

void Transport::TellClosed(Connection* connection, int error, bool is_told_late) {
  if (!connection->is_announced) return;
  connection->is_announced = false;
  if (connection->tls != nullptr && connection->tls->has_failed()) {
    records_->TlsFailure(connection->slot, connection->tls->failure());
    is_told_late = false;
  }
  records_->Closed(connection->slot, error, is_told_late);
  Slot& slot = slots_[connection->slot];
  slot.connection = nullptr;
  slot.is_closed = true;
  FreeSlotIfDone(connection->slot);
}

void Transport::Close(Connection* connection, int error) {
  if (!connection->is_open()) return;
  Detach(connection, error);
  CloseDescriptor(connection);
}

void Transport::CloseStream(Connection* stream, bool is_told_late) {
  if (!stream->is_open()) return;
  Detach(stream, 0, is_told_late);
  CloseDescriptor(stream);
}

void Transport::SetServer(Connection* connection, LaneServer* server) {
  --connection->server->connections;
  ++server->connections;
  connection->server = server;
}

void Transport::CloseLingering(Connection* connection, bool is_told_late) {
  if (!connection->is_open()) return;
  if (connection->stream != nullptr) return Close(connection, 0);
  Detach(connection, 0, is_told_late);
  if (!connection->is_fin_sent) {
    if (connection->tls != nullptr) connection->tls->Shutdown();
    shutdown(connection->fd, SHUT_WR);
  }
  connection->is_fin_sent = true;
  connection->life = Life::kLingering;
  connection->credit_bytes = 0;
  if (connection->peer_ended) {
    CloseDescriptor(connection);
  } else if (connection->has_read_all) {
    LookLater(connection);
  } else {
    WatchLingering(connection);
  }
}

bool Transport::IsUndecidedFull(const Connection& connection) {
  return connection.phase() == InputPhase::kUndecided && connection.partial != nullptr &&
         connection.partial->size() >= limits::kUndecidedBytesMax;
}

void Transport::CloseIfRefusedUpgrade(Connection* connection) {
  if (connection->is_fin_sent && IsUndecidedFull(*connection)) CloseLingering(connection);
}

// A client that has announced its end with its last request sends nothing more but that: when it is
// looked at a little later it has ended, without a wake for it.
void Transport::LookLater(Connection* connection) {
  connection->pauses = kPauseOver;
  UpdatePoll(connection);
  connection->is_unwatched = true;
  unwatched_.push_back({connection, uv_now(loop_), true});
}

void Transport::WatchOverdue() {
  if (unwatched_.empty()) return;
  const uint64_t now_ms = uv_now(loop_);
  while (!unwatched_.empty() && unwatched_.front().since_ms + limits::kUnwatchedMs <= now_ms) {
    const auto [connection, since_ms, is_lingering] = unwatched_.front();
    unwatched_.pop_front();
    if (is_lingering) {
      connection->is_unwatched = false;
      WatchLingering(connection);
    } else if (connection->is_open()) {
      connection->is_unwatched = false;
      UpdatePoll(connection);
    }
  }
  if (unwatched_.empty()) return;
  // The turn that follows looks.
  uv_timer_start(&unwatched_timer_, [](uv_timer_t*) {}, limits::kUnwatchedWakeMs, 0);
}

void Transport::WatchLingering(Connection* connection) {
  ReadLingering(connection);
  if (connection->life == Life::kClosing) return;
  connection->pauses = 0;
  UpdatePoll(connection);
  if (timers_.Start(connection, uv_now(loop_), limits::kLingerMs)) ArmTimer();
}

void Transport::ReadLingering(Connection* connection) {
  char buffer[kDiscardBytes];
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    // Records or not: nobody looks at it.
    const ssize_t got = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got > 0) {
      connection->credit_bytes += static_cast<size_t>(got);
      if (connection->credit_bytes < limits::kLingerBytesMax) continue;
    }
    CloseDescriptor(connection);
    return;
  }
}

void Transport::Reset(Connection* connection, int error) {
  if (connection->stream != nullptr) return Close(connection, 0);
  const linger at_once{1, 0};
  setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  connection->hops = 0;  // No FIN: the last descriptor of the socket resets it.
  Close(connection, error);
}

void Transport::CloseDescriptor(Connection* connection) {
  if (connection->life == Life::kClosing) return;
  connection->life = Life::kClosing;
  if (connection->stream != nullptr) {
    Unlink(connection);
    closed_.emplace_back(connection);
    return;
  }
  const int fd = connection->fd;
  // Whoever handed it over keeps a descriptor until it has read that it was taken.
  if (connection->hops != 0) shutdown(fd, SHUT_RDWR);
  CloseHandle(connection);
  close(fd);
}

void Transport::CloseHandle(Connection* connection) {
  StopTimer(connection);
  if (connection->is_pending) std::erase(pending_, connection);
  if (connection->is_unwatched) {
    std::erase_if(unwatched_, [=](const Unwatched& each) { return each.connection == connection; });
  }
  Unlink(connection);
  if (connection->is_watchable) {
    uv_close(reinterpret_cast<uv_handle_t*>(&connection->poll), OnPollClosed);
  } else {
    closed_.emplace_back(connection);
  }
}

void Transport::OnPollClosed(uv_handle_t* handle) {
  auto* connection = static_cast<Connection*>(handle->data);
  --static_cast<Transport*>(handle->loop->data)->allocated_;
  delete connection;
}

void Transport::FreeClosed() {
  allocated_ -= closed_.size();
  closed_.clear();
}

void Transport::Shutdown() {
  // A connection's streams go with it, so that the next one may be gone.
  while (first_ != nullptr) {
    Connection* connection = first_;
    if (connection->is_open()) Detach(connection, 0);
    CloseDescriptor(connection);
  }
  FreeClosed();
  uv_close(reinterpret_cast<uv_handle_t*>(&rate_timer_), nullptr);
  output_.Close();
  uv_close(reinterpret_cast<uv_handle_t*>(&unwatched_timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&pending_idle_), nullptr);
}

}  // namespace httpsys::engine
