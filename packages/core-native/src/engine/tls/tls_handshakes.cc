#include "engine/tls/tls_handshakes.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/descriptors.h"
#include "base/limits.h"
#include "engine/connection/connected_socket.h"
#include "engine/connection/input.h"
#include "records/records.h"
#include "tls/hello_peek.h"

namespace httpsys::engine {
namespace {

// Size of the buffer for a ClientHello: the longest one that is examined, and its record headers.
constexpr size_t kPeekBytes = limits::kHelloPeekBytesMax + 1024;

}  // namespace

bool TlsHandshakes::OnReadable(Connection* connection) {
  if (!connection->sharing.is_hello_routed() && !Route(connection)) return false;
  return Continue(connection);
}

// On a shared port, gives the connection to the server with the certificate for the ClientHello.
// Returns false if the ClientHello is incomplete, or if another member gets the connection.
bool TlsHandshakes::Route(Connection* connection) {
  if (!router_->IsShared(connection->local_port)) {
    connection->sharing.SetHelloRouted();
    return true;
  }
  char bytes[kPeekBytes];
  const ssize_t got = recv(connection->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  tls::PeekStatus status = tls::PeekStatus::kOther;
  std::string servername;
  if (got > 0) status = tls::PeekServername({bytes, static_cast<size_t>(got)}, &servername);
  const uint32_t before = connection->input.given_bytes();
  const bool has_grown = got > static_cast<ssize_t>(before) && got < ssize_t{sizeof bytes};
  if (status == tls::PeekStatus::kNeedMore && has_grown) {
    // Leave the bytes unread. The low-water mark keeps the kernel from reporting them again before
    // more bytes arrive or the client ends.
    connection->input.SetGiven(static_cast<size_t>(got));
    SetReceiveLowWater(connection->fd, static_cast<int>(got) + 1);
    return false;
  }
  if (before != 0) SetReceiveLowWater(connection->fd, 1);
  connection->input.SetGiven(0);
  if (status == tls::PeekStatus::kHello && !router_->RouteHello(connection, servername))
    return false;
  connection->sharing.SetHelloRouted();
  return true;
}

bool TlsHandshakes::Continue(Connection* connection) {
  switch (connection->tls->Handshake()) {
    case tls::HandshakeStatus::kDone:
      return Establish(connection);
    case tls::HandshakeStatus::kWaiting:
      if (connection->tls->has_unsent()) output_->FlushSealed(connection);
      return false;
    case tls::HandshakeStatus::kAsking: {
      const uint32_t id = Suspend(connection);
      connection->attachment().records().Hello(id, connection->server()->id,
                                               connection->tls->hello());
      return false;
    }
    case tls::HandshakeStatus::kTelling:
      for (const tls::NewSession& session : connection->tls->new_sessions()) {
        const uint32_t id = Suspend(connection);
        connection->attachment().records().NewSession(id, connection->server()->id, session);
      }
      return false;
    case tls::HandshakeStatus::kFailed:
      Fail(connection);
      return false;
  }
  return false;
}

// Suspends the handshake until JavaScript answers the next record. Meanwhile input stays in the
// socket. Returns the id of the record.
uint32_t TlsHandshakes::Suspend(Connection* connection) {
  const uint32_t id = next_id_++;
  asking_[id] = connection;
  SocketWatch::Pause(connection, kPauseUpgrade);
  transport_->watch()->Update(connection);
  return id;
}

bool TlsHandshakes::OnAnswer(const Attachment* from, uint32_t id, tls::HelloAnswer answer,
                             Connection** connection) {
  const auto found = asking_.find(id);
  if (found == asking_.end() || &found->second->attachment() != from) return false;
  *connection = found->second;
  asking_.erase(found);
  const bool is_left = std::any_of(asking_.begin(), asking_.end(),
                                   [=](const auto& entry) { return entry.second == *connection; });
  if (is_left) return false;
  (*connection)->tls->Answer(std::move(answer));
  SocketWatch::Resume(*connection, kPauseUpgrade);
  const bool is_over = Continue(*connection);
  if ((*connection)->is_open()) transport_->watch()->Update(*connection);
  return is_over;
}

bool TlsHandshakes::Establish(Connection* connection) {
  const tls::ContextSettings& settings = connection->tls->context().settings();
  transport_->StopTimer(connection);
  if (settings.request_cert && settings.reject_unauthorized &&
      connection->tls->Describe().verify_result != 0) {
    connection->tls->Reject();
    Fail(connection);
    return false;
  }
  connection->Enter(InputPhase::kHead);
  connection->message.Begin(uv_hrtime());
  const bool is_left = connection->server()->is_unlistened;
  if (connection->slot.is_announced() || !router_->IsShared(connection->local_port)) {
    // A server that was closed during the handshake still gets the connection accepted before.
    transport_->AnnounceAnew(connection, is_left ? uint32_t{records::kFlagShared} : 0);
  } else if (is_left) {
    // Otherwise the first request determines the server, and announces the connection.
    router_->Leave(connection);
  }
  output_->FlushSealed(connection);
  if (connection->is_open() && connection->tls->has_held()) holding_.push_back(connection);
  return connection->is_open();
}

void TlsHandshakes::Fail(Connection* connection) {
  transport_->StopTimer(connection);
  if (connection->server()->config->settings().wants_tls_errors) {
    transport_->Announce(connection, records::kFlagFailed);
  }
  if (connection->tls->is_plain_http()) answers_->AnswerPlainHttp(this, connection);
  // Linger before closing: input that is still on its way would reset the connection, and the
  // client would lose the alert or answer.
  transport_->CloseLingering(connection);
}

// Writes without TLS. The first output of a connection always fits into the socket.
void TlsHandshakes::WriteAnswer(Connection* connection, const NativeAnswer& answer) {
  (void)send(connection->fd, answer.head.data(), answer.head.size(), kSendFlags | MSG_DONTWAIT);
}

void TlsHandshakes::ResetRequest(Connection* connection, bool may_retry) {
  (void)may_retry;
  transport_->Reset(connection);
}

void TlsHandshakes::OnTimeout(Connection* connection) {
  connection->tls->TimeOut();
  Fail(connection);
}

bool TlsHandshakes::SendTickets() {
  if (holding_.empty()) return false;
  // A connection that ends here removes itself from the list (OnDetached()).
  while (!holding_.empty()) {
    Connection* const connection = holding_.back();
    holding_.pop_back();
    connection->tls->ReleaseHeld();
    output_->FlushSealed(connection);
  }
  return true;
}

void TlsHandshakes::OnDetached(Connection* connection) {
  std::erase(holding_, connection);
  if (connection->phase() != InputPhase::kHandshake || asking_.empty()) return;
  std::erase_if(asking_, [=](const auto& entry) { return entry.second == connection; });
}

}  // namespace httpsys::engine
