#include "engine/connection/endings.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/descriptors.h"
#include "base/limits.h"
#include "engine/connection/connection_limits.h"
#include "engine/connection/input.h"

namespace httpsys::engine {
namespace {

// Size of reads of lingering input. The input is thrown away, so the size only matters for the
// number of calls.
constexpr size_t kDiscardBytes = 16 * 1024;

}  // namespace

// Must be called when the connection is no longer open and its sending direction is shut down.
void Endings::BeginLingering(Connection* connection) {
  ConnectionList::SetLingering(connection);
  if (connection->end.peer_ended()) {
    connections_->End(connection);
  } else if (connection->end.has_read_all() && !watch_->AreDescriptorsLow()) {
    // The client sends only its end after its last request. Look a little later, when it has
    // probably ended, instead of waking the lane for it.
    SocketWatch::PauseOnly(connection, kPauseOver);
    watch_->Update(connection);
    watch_->LeaveAlone(connection, true);
  } else {
    OnLingerDue(connection);
  }
}

void Endings::OnLingerDue(Connection* connection) {
  OnLingerReadable(connection);
  if (connection->list.life() == Life::kClosing) return;
  SocketWatch::PauseOnly(connection, 0);
  watch_->Update(connection);
  timers_->Start(connection, limits::kLingerMs);
}

void Endings::OnLingerReadable(Connection* connection) {
  char buffer[kDiscardBytes];
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    // Read without TLS: the bytes are discarded, so they need not be decrypted.
    const ssize_t got = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && IsWouldBlock(errno)) return;
    if (got > 0) {
      uint32_t& discarded_bytes = connection->linger.discarded_bytes_;
      discarded_bytes += static_cast<uint32_t>(got);
      if (discarded_bytes < limits::kLingerBytesMax) continue;
    }
    connections_->End(connection);
    return;
  }
}

// FinishAfterOutput(), OnOutputDone() and Reset() do nothing on a closed connection: their callers
// have just sent output, and a failed send closes the connection.
void Endings::FinishAfterOutput(Connection* connection, AfterOutput action) {
  if (!connection->is_open()) return;
  EndState& end = connection->end;
  if (action > end.after_output_) end.after_output_ = action;
  if (end.after_output_ == AfterOutput::kClose) {
    if (connection->phase() == InputPhase::kAfterClose) end.has_read_all_ = true;
    // The application ends this upgraded connection itself: OnOutputEnding() informs a relaying
    // member that the output is complete.
    if (handler_ != nullptr && IsTunnel(connection->phase())) handler_->OnOutputEnding(connection);
    connection->Enter(InputPhase::kOver);
    SocketWatch::Pause(connection, kPauseOver);
  }
  WatchLeft(connection);
  output_->Touch(connection);
}

void Endings::WatchLeft(Connection* connection) {
  // HTTP/2 has timers of its own for its connections and streams.
  const bool is_http2 = connection->http2 != nullptr || connection->stream != nullptr;
  if (is_http2 || !connection->end.is_left() ||
      connection->server()->config->settings().allow_half_open) {
    return;
  }
  timers_->Start(connection, limits::kLeftMs);
}

void Endings::FinishNow(Connection* connection) {
  connection->end.after_output_ = AfterOutput::kClose;
  connection->Enter(InputPhase::kOver);
  SocketWatch::Pause(connection, kPauseOver);
  if (connection->output.queue() == nullptr) OnOutputDone(connection);
}

void Endings::OnOutputDone(Connection* connection) {
  if (!connection->is_open()) return;
  switch (connection->end.after_output()) {
    case AfterOutput::kNothing:
      // The next request may belong to another server, so input is resumed only now.
      if ((connection->watch.pauses() & (kPauseOrder | kPauseOutput)) != 0 ||
          connection->relay() != nullptr) {
        connection->input.ResumeSoon();
      }
      return;
    case AfterOutput::kShutdown:
      if (connection->tls != nullptr && !connection->end.is_fin_sent() &&
          !connection->tls->Shutdown()) {
        // OnOutputDone() is called again when TLS' close_notify alert is sent.
        output_->BeginQueue(connection);
        return;
      }
      if (connection->end.peer_ended()) {
        connection->end.is_fin_sent_ = true;  // Both directions have ended, so no FIN is needed.
        Close(connection, 0);
      } else if (!connection->end.is_fin_sent()) {
        connection->end.is_fin_sent_ = true;
        if (handler_ != nullptr) handler_->OnOutputEnding(connection);
        shutdown(connection->fd, SHUT_WR);
        CloseIfRefusedUpgrade(connection);
      }
      return;
    case AfterOutput::kClose:
      // JavaScript may learn of the close late only while the server listens. A closed server waits
      // for its last connections, so it must learn of the close at once, as on Node.
      CloseLingering(connection, connection->sharing.is_shared() &&
                                     connection->message.unanswered() == 0 &&
                                     !connection->server()->is_unlistened);
      return;
  }
}

void Endings::Detach(Connection* connection, int error, bool is_told_late) {
  timers_->Stop(connection);
  if (connection->http2 != nullptr || connection->stream != nullptr) {
    streams_->OnDetach(connection);
  }
  output_->Drop(connection);
  announcer_->TellClosed(connection, error, is_told_late);
  if (handler_ != nullptr) handler_->OnDetached(connection);
  ConnectionLimits::OnDetached(connection);
  connections_->Leave(connection);
}

void Endings::Close(Connection* connection, int error) {
  if (!connection->is_open()) return;
  Detach(connection, error);
  connections_->End(connection);
}

void Endings::CloseStream(Connection* stream, bool is_told_late) {
  if (!stream->is_open()) return;
  Detach(stream, 0, is_told_late);
  connections_->End(stream);
}

void Endings::CloseLingering(Connection* connection, bool is_told_late) {
  if (!connection->is_open()) return;
  if (connection->stream != nullptr) return Close(connection, 0);
  Detach(connection, 0, is_told_late);
  if (!connection->end.is_fin_sent()) {
    if (connection->tls != nullptr) connection->tls->Shutdown();
    shutdown(connection->fd, SHUT_WR);
    connection->end.is_fin_sent_ = true;
  }
  BeginLingering(connection);
}

bool Endings::IsUndecidedFull(const Connection& connection) {
  return connection.phase() == InputPhase::kUndecided &&
         connection.input.partial_bytes() >= limits::kUndecidedBytesMax;
}

void Endings::CloseIfRefusedUpgrade(Connection* connection) {
  if (connection->end.is_fin_sent() && IsUndecidedFull(*connection)) CloseLingering(connection);
}

void Endings::Reset(Connection* connection, int error) {
  if (!connection->is_open()) return;
  if (connection->stream != nullptr) return Close(connection, 0);
  const linger at_once{1, 0};
  setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  // End() calls shutdown(2) for a connection that has moved, which would send a FIN before the
  // reset.
  connection->sharing.ForgetMoves();
  Close(connection, error);
}

int Endings::Release(Connection* connection) {
  const int fd = connection->fd;
  Detach(connection, 0, !connection->server()->is_unlistened);
  connections_->EndWithoutClosing(connection);
  return fd;
}

void Endings::OnWatchFailed(Connection* connection, int error) {
  Close(connection, error);
  // Close() does nothing for a lingering connection, so end it here.
  connections_->End(connection);
}

void Endings::CloseAll() {
  // Closing a connection closes its streams, so the next element of the list may be gone.
  while (Connection* connection = connections_->first()) {
    if (connection->is_open()) Detach(connection, 0);
    connections_->End(connection);
  }
}

}  // namespace httpsys::engine
