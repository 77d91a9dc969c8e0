#pragma once
// Facts about TLS connections. Free of OpenSSL's headers, because not every backend has OpenSSL.

#include <string>
#include <string_view>

namespace httpsys::tls {

// What a client asks for in its ClientHello.
struct ClientHello {
  std::string servername;  // The server name; empty = none.
  std::string alpn;        // The protocols, each after its length; empty = none.
  std::string session_id;  // The session to resume, or a meaningless one (TLS 1.3).
  bool has_ticket = false;
  bool wants_status = false;  // The client wants an OCSP response.
};

// A new session that JavaScript may keep.
struct NewSession {
  std::string id;
  std::string data;  // ASN.1.
};

// Why a connection failed, as JavaScript tells it.
struct Failure {
  int error = 0;     // A positive errno; EPROTO for an error of OpenSSL.
  int reason = 0;    // OpenSSL's reason code within its library.
  std::string text;  // The error as OpenSSL prints it. The following texts are parts of it.
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
  std::string_view cipher_standard;  // The cipher's name in the standard.
  std::string_view cipher_version;   // The TLS version that introduced the cipher.
  std::string certificates;  // The peer's certificates (DER), each after its length in four bytes.
};

}  // namespace httpsys::tls
