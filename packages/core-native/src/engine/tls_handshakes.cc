#include "engine/tls_handshakes.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "common/socket_calls.h"

namespace httpsys::engine {
namespace {

// For whoever speaks HTTP without TLS; it is read as text.
constexpr std::string_view kPlainRefused =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    "Content-Length: 39\r\n\r\nThis port speaks HTTPS, not plain HTTP\n";

}  // namespace

bool TlsHandshakes::OnReadable(Connection* connection) { return Continue(connection); }

bool TlsHandshakes::Continue(Connection* connection) {
  switch (connection->tls->Handshake()) {
    case tls::HandshakeStatus::kDone:
      return Establish(connection);
    case tls::HandshakeStatus::kWaiting:
      if (connection->tls->has_unsent()) transport_->FlushSealed(connection);
      return false;
    case tls::HandshakeStatus::kAsking: {
      const uint32_t id = next_id_++;
      asking_[id] = connection;
      // What comes meanwhile stays in the socket.
      transport_->Pause(connection, kPauseUpgrade);
      transport_->UpdatePoll(connection);
      records_->Hello(id, connection->server->id, connection->tls->hello());
      return false;
    }
    case tls::HandshakeStatus::kFailed:
      Fail(connection);
      return false;
  }
  return false;
}

bool TlsHandshakes::OnAnswer(uint32_t id, tls::HelloAnswer answer, Connection** connection) {
  const auto found = asking_.find(id);
  if (found == asking_.end()) return false;
  *connection = found->second;
  asking_.erase(found);
  (*connection)->tls->Answer(std::move(answer));
  transport_->Resume(*connection, kPauseUpgrade);
  const bool is_over = Continue(*connection);
  if ((*connection)->is_open()) transport_->UpdatePoll(*connection);
  return is_over;
}

bool TlsHandshakes::Establish(Connection* connection) {
  const tls::ContextSettings& settings = connection->tls->context().settings();
  transport_->StopTimer(connection);
  if (settings.requests_certificate && settings.rejects_unauthorized &&
      connection->tls->Describe().verify_result != 0) {
    connection->tls->Reject();
    Fail(connection);
    return false;
  }
  connection->phase = InputPhase::kHead;
  connection->message_start_ns = uv_hrtime();
  transport_->Announce(connection, 0);
  transport_->FlushSealed(connection);
  return connection->is_open();
}

void TlsHandshakes::Fail(Connection* connection) {
  transport_->StopTimer(connection);
  if (connection->server->config->settings().wants_tls_errors) {
    transport_->Announce(connection, records::kFlagFailed);
  }
  if (connection->tls->is_plain_http()) {
    // Best effort: nobody waits for more room.
    (void)send(connection->fd, kPlainRefused.data(), kPlainRefused.size(), kSendFlags);
  }
  // What is still under way must not destroy what has been said.
  transport_->CloseLingering(connection);
}

void TlsHandshakes::OnTimeout(Connection* connection) {
  connection->tls->TimeOut();
  Fail(connection);
}

void TlsHandshakes::OnDetached(Connection* connection) {
  if (connection->phase != InputPhase::kHandshake || asking_.empty()) return;
  std::erase_if(asking_, [=](const auto& entry) { return entry.second == connection; });
}

}  // namespace httpsys::engine
