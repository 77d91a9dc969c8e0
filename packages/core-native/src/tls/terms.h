#pragma once
// The rule about client certificates: whether a connection that one server has opened may carry
// requests of another server.

#include <string_view>

namespace httpsys::tls {

// What a handshake has settled, in whichever process it took place. The views live as long as its
// connection.
struct HandshakeTerms {
  int protocol = 0;          // 0x0304 = TLS 1.3; 0 = the connection has no TLS.
  std::string_view cipher;   // OpenSSL's name.
  bool is_asked = false;     // The client was asked for a certificate.
  bool is_verified = false;  // The client has shown a valid certificate.
  // ServerContext::TrustOf() of the server that asked: its authorities and lists.
  std::string_view trust;
};

// What a server demands of a connection for one host name.
struct OwnerTerms {
  bool is_negotiable = false;  // The server would negotiate this version and cipher, too.
  bool asks = false;
  bool rejects_unauthorized = false;
  // False if JavaScript chooses by name (SNICallback), so that the terms cannot be foreseen.
  bool is_known = true;
  std::string_view trust;  // Identifies the authorities that a certificate must come from.
};

// Returns true if the handshake is as good as one that the owner would have made for that name. A
// server does not ask this about its own handshakes. Thread: any.
constexpr bool Admits(const OwnerTerms& owner, const HandshakeTerms& handshake) {
  if (!owner.is_negotiable) return false;
  if (!owner.asks) return true;
  return owner.is_known && handshake.is_asked && handshake.trust == owner.trust &&
         (handshake.is_verified || !owner.rejects_unauthorized);
}

}  // namespace httpsys::tls
