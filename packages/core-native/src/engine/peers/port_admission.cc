#include "engine/peers/port_admission.h"

#include "records/record_writer.h"

namespace httpsys::engine {

bool PortAdmission::IsPinned(const Connection* connection) {
  const bool is_untouched =
      connection->phase() == InputPhase::kHandshake && !connection->sharing.is_hello_routed();
  return (connection->tls != nullptr && !is_untouched) || connection->http2 != nullptr;
}

bool PortAdmission::HasMore(const http1::RequestHead& head, size_t rest) {
  return head.body != http1::BodyKind::kChunked && !head.upgrade && head.content_length < rest;
}

// A client may use a connection for other hosts than the one in its ClientHello. But for a host
// that another server has registered by name, the certificate that the client was shown must cover
// the host (RFC 9110, sections 7.4 and 15.5.20). `name` is the host by which the owner was found.
bool PortAdmission::IsMisdirected(const Routes& routes, const Connection* connection,
                                  std::string_view name) {
  const Connection* real = connection->real();
  if (real->tls == nullptr) return false;
  const std::string_view servername = WithoutFinalDot(real->tls->hello().servername);
  if (servername.empty() || IsSameHost(name, servername)) return false;
  const Routes::HostOwner owner =
      routes.FindHost(name, connection->local_ip, real->tls->maker().server_id);
  return owner.is_named && !owner.is_preferred && !real->tls->CoversHost(name);
}

// Returns true if the server has made the connection's handshake since its last listen(): then it
// may serve all requests of the connection, as on Node even if setSecureContext() has replaced its
// rules since. Returns false
// - on a connection that another member relays, whose handshake is that member's;
// - on a connection without TLS, where the server speaks TLS now;
// - on a connection from before close(), if the server has other settings since a later listen().
bool PortAdmission::IsOwnHandshake(const Connection* connection, const LaneServer& server) {
  if (connection->origin() != nullptr) return false;
  const tls::ServerContext* present = server.config->tls();
  const tls::Session* session = connection->tls.get();
  if (session == nullptr) {
    return present == nullptr ||
           server.config->TlsOf(connection->local_port, connection->local_ip) == nullptr;
  }
  if (session->maker().server_id != server.id) return false;
  return session->maker().listening == server.config->settings().listening ||
         &session->context() == present;
}

bool PortAdmission::SpeakAlike(const Connection* connection, const LaneServer& server) {
  const bool is_secure =
      server.config->TlsOf(connection->local_port, connection->local_ip) != nullptr;
  return is_secure == (connection->tls != nullptr);
}

// Decides whether a server may get a request over a connection whose handshake another server has
// made, here or in another member. Every request of every protocol passes here before the server
// answers. Compares the server's present settings with the handshake as it was made.
bool PortAdmission::MayServe(const Connection* connection, const LaneServer& server,
                             std::string_view name) {
  const Connection* real = connection->real();
  const bool is_local = real->origin() == nullptr;
  if (IsOwnHandshake(real, server)) return true;
  const auto context = server.config->TlsOf(real->local_port, real->local_ip);
  if (context == nullptr) return true;
  tls::HandshakeTerms handshake;
  if (is_local) {
    // Without TLS there are no terms of a handshake.
    if (real->tls != nullptr) handshake = real->tls->terms();
  } else {
    handshake = TermsOf(real->origin()->facts);
    handshake.trust = real->origin()->trust;
  }
  return tls::Admits(context->TermsFor(name, handshake), handshake);
}

// Returns false, with the reason in *route, if a rule keeps a request from the server that the
// port's routes have chosen (or, without routes, the only server). A server of a whole port accepts
// every Host, as Node does.
bool PortAdmission::IsAllowed(const Connection* connection, const LaneServer& server,
                              const HostName& host, Route* route) {
  if (!host.is_valid && server.config->has_prefixes()) {
    route->status = RouteStatus::kBadHost;
  } else if (!MayServe(connection, server, host.name)) {
    route->status = RouteStatus::kMisdirected;
  } else {
    return true;
  }
  return false;
}

}  // namespace httpsys::engine
