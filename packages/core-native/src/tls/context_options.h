#pragma once
// The settings of a server's TLS context that are plain values.

#include <cstdint>
#include <string>

#include "base/fields.h"

namespace httpsys::tls {

struct ContextOptions {
  std::string session_id_context;
  // The server's protocols in order of preference, each after its length; empty = none.
  std::string alpn;
  bool asks_host = false;     // JavaScript chooses the certificate by server name.
  bool asks_alpn = false;     // JavaScript chooses the protocol.
  bool asks_session = false;  // JavaScript looks up sessions that have no ticket.
  bool asks_status = false;   // JavaScript provides the OCSP response.
  // JavaScript gets new sessions, and the handshake waits until it has stored them.
  bool tells_sessions = false;
  // JavaScript gets the secrets of handshakes (Session::TakeKeyLog()).
  bool logs_keys = false;
  bool request_cert = false;
  bool reject_unauthorized = true;
  uint64_t handshake_timeout = 0;  // ms

  HTTPSYS_FIELDS(session_id_context, alpn, asks_host, asks_alpn, asks_session, asks_status,
                 tells_sessions, logs_keys, request_cert, reject_unauthorized, handshake_timeout);
};

}  // namespace httpsys::tls
