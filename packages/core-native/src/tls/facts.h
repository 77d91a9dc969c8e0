#pragma once
// What is told of TLS. Without a header of OpenSSL: not every backend has one.

#include <string>
#include <string_view>

namespace httpsys::tls {

// What a client asks for before anything is decided.
struct ClientHello {
  std::string servername;  // Empty = none was given.
  std::string alpn;        // Protocols, each after its length; empty = none.
  std::string session_id;  // That it would go on with, or one of no meaning (TLS 1.3).
  bool has_ticket = false;
  bool wants_status = false;  // Of the certificate, by OCSP.
};

// A session of which JavaScript hears.
struct NewSession {
  std::string id;
  std::string data;  // ASN.1.
};

// Why a connection failed, as JavaScript tells it.
struct Failure {
  int error = 0;     // A positive errno; EPROTO when it is OpenSSL's.
  int reason = 0;    // OpenSSL's, within its library.
  std::string text;  // As OpenSSL prints it; the others are parts of that.
  std::string library;
  std::string function;
  std::string reason_text;
};

// What a connection is, once the handshake is done.
struct Facts {
  int protocol = 0;  // 0x0304 = TLS 1.3.
  bool is_reused = false;
  bool has_asked = false;  // For a certificate.
  long verify_result = 0;  // X509_V_…; without a certificate what Node says then.
  std::string_view servername;
  std::string_view alpn;
  std::string_view cipher;           // OpenSSL's name,
  std::string_view cipher_standard;  // the standard's,
  std::string_view cipher_version;   // and since when it is there.
  std::string certificates;          // Of the peer, each after its length in four bytes.
};

}  // namespace httpsys::tls
