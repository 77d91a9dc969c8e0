#pragma once
// The rule that protects client certificates: it decides whether a connection that one server has
// opened may carry requests for another server.

#include <string_view>

namespace httpsys::tls {

// The facts of a handshake that matter for client certificates; any process may have made it. The
// views live as long as its connection.
struct HandshakeTerms {
  int protocol = 0;          // 0x0304 = TLS 1.3; 0 = the connection has no TLS.
  std::string_view cipher;   // The cipher's name in OpenSSL.
  bool is_asked = false;     // The server has requested a client certificate.
  bool is_verified = false;  // The client has shown a valid certificate.
  // ServerContext::TrustOf() of the asking server: identifies its authorities and revocation lists.
  std::string_view trust;
};

// A server's requirements for connections that carry requests for one host name.
struct OwnerTerms {
  bool is_negotiable = false;  // True if the server would negotiate this version and cipher itself.
  bool asks = false;
  bool rejects_unauthorized = false;
  // False if JavaScript chooses the certificate by name (SNICallback), with unknown requirements.
  bool is_known = true;
  std::string_view trust;  // Identifies the authorities that must have signed a certificate.
};

// Returns true if the handshake meets the owner's requirements for the name. Must not be called for
// handshakes of the owner itself. Thread: any.
constexpr bool Admits(const OwnerTerms& owner, const HandshakeTerms& handshake) {
  if (!owner.is_negotiable) return false;
  if (!owner.asks) return true;
  return owner.is_known && handshake.is_asked && handshake.trust == owner.trust &&
         (handshake.is_verified || !owner.rejects_unauthorized);
}

}  // namespace httpsys::tls
