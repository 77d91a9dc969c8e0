#pragma once
// Facts about TLS connections. Without OpenSSL's headers, which not every backend has.

#include <string>
#include <string_view>

namespace httpsys::tls {

// The parts of a ClientHello that the server or its JavaScript uses.
struct ClientHello {
  std::string servername;  // The server name; empty = none.
  std::string alpn;        // The protocols, each after its length; empty = none.
  std::string session_id;  // The session to resume; meaningless in TLS 1.3.
  bool has_ticket = false;
  bool wants_status = false;  // The client wants an OCSP response.
};

// A new session, for JavaScript's store of sessions.
struct NewSession {
  std::string id;
  std::string data;  // The session in ASN.1.
};

// Why a TLS connection failed, for the error that JavaScript reports.
struct Failure {
  int error = 0;     // A positive errno; EPROTO for an error of OpenSSL.
  int reason = 0;    // OpenSSL's reason code within its library.
  std::string text;  // The complete error text of OpenSSL; the texts below are parts of it.
  std::string library;
  std::string function;
  std::string reason_text;
};

// The properties of a connection after its handshake.
struct Facts {
  int protocol = 0;  // 0x0304 = TLS 1.3.
  bool is_reused = false;
  bool has_asked = false;  // The client was asked for a certificate.
  long verify_result = 0;  // X509_V_...; without a certificate, the code that Node reports.
  std::string_view servername;
  std::string_view alpn;
  std::string_view cipher;           // The cipher's name in OpenSSL.
  std::string_view cipher_standard;  // The cipher's name in the TLS standards.
  std::string_view cipher_version;   // The TLS version that introduced the cipher.
  // The client's certificates (DER), each after its length in four bytes.
  std::string certificates;
};

// The rule that protects client certificates: it decides whether a connection that one server has
// opened may carry requests for another server.
// The facts of a handshake that matter for client certificates; any process may have made it. The
// views live as long as its connection.
struct HandshakeTerms {
  int protocol = 0;          // 0x0304 = TLS 1.3; 0 = the connection has no TLS.
  std::string_view cipher;   // The cipher's name in OpenSSL.
  bool is_asked = false;     // The server has requested a client certificate.
  bool is_verified = false;  // The client has shown a valid certificate.
  // ServerContext::TrustOf() of the asking server: identifies its authorities and revocation lists.
  // lists.
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
