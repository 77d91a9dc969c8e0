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

}  // namespace httpsys::tls
