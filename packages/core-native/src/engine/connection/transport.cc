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

// Size of reads of lingering input. The input is thrown away, so the size only matters for the
// number of calls.
constexpr size_t kDiscardBytes = 16 * 1024;

}  // namespace

Transport::Transport(uv_loop_t* loop, std::atomic<uint32_t>* load)
    : watch_(loop, this),
      output_(loop, this),
      timers_(loop, [this](Connection* connection) { OnTimeout(connection); }),
      slow_clients_(
          loop, [this](const auto& look) { ForEach(look); },
          [this](Connection* connection) { handler_->OnTooSlow(connection); }),
      load_(load) {}

// -- Connections.

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
  if (origin != nullptr) connection->uncommon().origin = std::move(origin);
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
  if (connection->phase() != InputPhase::kAfterClose) return watch_.Update(connection);
  // The client sends nothing more, and is most likely answered before it gives up.
  watch_.LeaveAlone(connection, false);
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
  // A name that one attachment knows means nothing to another one.
  if (server->attachment != connection->server->attachment) TellClosed(connection, 0);
  SetServer(connection, server);
  connection->tls.reset();
  return BeginTls(connection);
}

// Returns false if out of memory.
bool Transport::BeginTls(Connection* connection) {
  const ServerConfig& config = *connection->server->config;
  std::shared_ptr<const tls::ServerContext> context =
      config.TlsOf(connection->local_port, connection->local_ip);
  if (context == nullptr || connection->origin() != nullptr) return true;
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
  if (!connection->slot.is_announced()) Tell(connection, flags);
}

void Transport::Tell(Connection* connection, uint32_t flags) {
  connection->is_shared = (flags & records::kFlagShared) != 0;
  connection->attachment().slots().Take(connection);
  if (connection->stream != nullptr) return;
  if (handler_ != nullptr) handler_->OnAnnounced(connection);
  // The connection has kept its addresses until now. They are read again if it goes from one server
  // to another.
  std::unique_ptr<Addresses> addresses = std::move(connection->addresses);
  if (addresses == nullptr) {
    addresses = std::make_unique<Addresses>(DescribeConnection(connection->fd, nullptr));
  }
  const bool has_secrets = connection->tls != nullptr && (flags & records::kFlagPending) == 0;
  if (has_secrets)
    connection->attachment().records().KeyLog(connection->slot.number(),
                                              connection->tls->TakeKeyLog());
  std::string facts;
  if (connection->tls != nullptr) facts = EncodeFacts(connection->tls->Describe());
  if (connection->origin() != nullptr) facts = connection->origin()->facts;
  connection->attachment().records().Open(connection->slot.number(), connection->server->id,
                                          *addresses, flags, facts);
}

void Transport::AnnounceAnew(Connection* connection, uint32_t flags) {
  const SlotState before = connection->slot;
  Tell(connection, flags);
  if (!before.is_announced()) return;
  connection->attachment().records().Closed(before.number(), 0, false);
  connection->attachment().slots().Close(before.number());
}

void Transport::Assign(Connection* connection, LaneServer* server) {
  if (connection->server != server) {
    TellClosed(connection, 0);
    --connection->server->connections;
    ++server->connections;
    connection->server = server;
    connection->window_bytes = limits::kReceiveWindowBytes;
    OutputPass::ForgetCredit(connection);
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

// -- Reading.

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

void Transport::OnPeerEnded(Connection* connection) {
  connection->peer_ended = true;
  SocketWatch::Pause(connection, kPauseOver);
  watch_.Update(connection);
}

void Transport::OnReadable(Connection* connection) {
  if (connection->life == Life::kLingering) {
    ReadLingering(connection);
  } else if (connection->is_open()) {
    handler_->OnReadable(connection);
  }
}

void Transport::OnWatchFailed(Connection* connection, int error) {
  Close(connection, error);
  // Close() leaves the descriptor of a lingering connection open.
  CloseDescriptor(connection);
}

void Transport::OnQueueBegun(Connection* connection) {
  if (connection->fd >= 0) slow_clients_.Watch(*connection);
}

void Transport::OnTimeout(Connection* connection) {
  if (!connection->is_open()) {
    CloseDescriptor(connection);
  } else if (connection->http2 != nullptr || connection->stream != nullptr) {
    streams_->OnTimer(connection);
  } else if (connection->output.queue() != nullptr && connection->idle_timeout_ms != 0) {
    // The connection is not idle: the peer still reads the last response.
    timers_.Start(connection, connection->idle_timeout_ms);
  } else {
    handler_->OnTimeout(connection);
  }
}

// -- Ends.

void Transport::FinishAfterOutput(Connection* connection, AfterOutput action) {
  if (action > connection->after_output) connection->after_output = action;
  if (connection->after_output == AfterOutput::kClose) {
    if (connection->phase() == InputPhase::kAfterClose) connection->has_read_all = true;
    // The application ends an upgraded connection by itself, so the bytes that a relay gets are
    // complete.
    if (handler_ != nullptr && IsTunnel(connection->phase())) handler_->OnOutputEnding(connection);
    connection->Enter(InputPhase::kOver);
    SocketWatch::Pause(connection, kPauseOver);
  }
  output_.Touch(connection);
}

void Transport::FinishNow(Connection* connection) {
  connection->after_output = AfterOutput::kClose;
  connection->Enter(InputPhase::kOver);
  SocketWatch::Pause(connection, kPauseOver);
  if (connection->output.queue() == nullptr) OnOutputDone(connection);
}

void Transport::OnOutputDone(Connection* connection) {
  switch (connection->after_output) {
    case AfterOutput::kNothing:
      // The next request may belong to another server, so input goes on only now.
      if ((connection->watch.pauses() & (kPauseOrder | kPauseOutput)) != 0 ||
          connection->relay() != nullptr) {
        connection->wants_input_resumed = true;
      }
      return;
    case AfterOutput::kShutdown:
      if (connection->tls != nullptr && !connection->is_fin_sent && !connection->tls->Shutdown()) {
        // OnOutputDone() is called again when the goodbye of TLS is sent.
        output_.BeginQueue(connection);
        return;
      }
      if (connection->peer_ended) {
        connection->is_fin_sent = true;  // Both directions have ended, so no FIN is needed.
        Close(connection, 0);
      } else if (!connection->is_fin_sent) {
        connection->is_fin_sent = true;
        if (handler_ != nullptr) handler_->OnOutputEnding(connection);
        shutdown(connection->fd, SHUT_WR);
        CloseIfRefusedUpgrade(connection);
      }
      return;
    case AfterOutput::kClose:
      // The close is told late only while the server listens. A server that was closed waits for
      // its connections, so it hears of the close at once, as on Node.
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
  if (!connection->slot.is_announced()) return;
  if (connection->tls != nullptr && connection->tls->has_failed()) {
    connection->attachment().records().TlsFailure(connection->slot.number(),
                                                  connection->tls->failure());
    is_told_late = false;
  }
  connection->attachment().records().Closed(connection->slot.number(), error, is_told_late);
  connection->attachment().slots().Close(connection);
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
  if (connection->peer_ended) {
    CloseDescriptor(connection);
  } else if (connection->has_read_all) {
    // A client that has announced its end with its last request sends nothing but that end. When
    // the lane looks a little later, the client has ended, without a wake for it.
    SocketWatch::PauseOnly(connection, kPauseOver);
    watch_.Update(connection);
    watch_.LeaveAlone(connection, true);
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

void Transport::WatchLingering(Connection* connection) {
  ReadLingering(connection);
  if (connection->life == Life::kClosing) return;
  SocketWatch::PauseOnly(connection, 0);
  watch_.Update(connection);
  timers_.Start(connection, limits::kLingerMs);
}

void Transport::ReadLingering(Connection* connection) {
  char buffer[kDiscardBytes];
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    // The bytes are discarded, encrypted or not.
    const ssize_t got = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got > 0) {
      connection->discarded_bytes += static_cast<uint32_t>(got);
      if (connection->discarded_bytes < limits::kLingerBytesMax) continue;
    }
    CloseDescriptor(connection);
    return;
  }
}

void Transport::Reset(Connection* connection, int error) {
  if (connection->stream != nullptr) return Close(connection, 0);
  const linger at_once{1, 0};
  setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  // With 0, CloseDescriptor() sends no FIN: closing the last descriptor of the socket resets it.
  connection->hops = 0;
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
  // The member that handed the connection over keeps a descriptor until it has read the
  // acknowledgement, so close() alone would not end the connection.
  if (connection->hops != 0) shutdown(fd, SHUT_RDWR);
  CloseHandle(connection);
  close(fd);
}

void Transport::CloseHandle(Connection* connection) {
  StopTimer(connection);
  Unlink(connection);
  if (!watch_.End(connection)) closed_.emplace_back(connection);
}

void Transport::OnUnwatched(Connection* connection) {
  --allocated_;
  delete connection;
}

void Transport::FreeClosed() {
  allocated_ -= closed_.size();
  closed_.clear();
}

void Transport::Shutdown() {
  // Closing a connection closes its streams, so the next element of the list may be gone.
  while (first_ != nullptr) {
    Connection* connection = first_;
    if (connection->is_open()) Detach(connection, 0);
    CloseDescriptor(connection);
  }
  FreeClosed();
  slow_clients_.Close();
  output_.Close();
  timers_.Close();
  watch_.Close();
}

}  // namespace httpsys::engine
