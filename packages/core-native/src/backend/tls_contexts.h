#pragma once
// The TLS settings that JavaScript has made for its servers. Others name them by numbers: a pointer
// means nothing in another process.

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace httpsys::tls {
class HostContext;
class ServerContext;
}  // namespace httpsys::tls

namespace httpsys {

// What a context is made of, beside Node's own.
struct TlsSettings {
  struct Host {
    std::string pattern;  // A pattern of MatchesHost().
    TlsHostId host{};

    template <typename Visitor>
    void Fields(Visitor& visit) {
      visit(pattern, host);
    }
  };

  std::vector<Host> hosts;     // The last host that matches is used.
  TicketKeysId ticket_keys{};  // kNone = those of the connection's port.
  std::string session_id_context;
  std::string alpn;  // The server's protocols by preference, each after its length; empty = none.
  bool asks_host = false;       // JavaScript chooses the certificate by server name.
  bool asks_alpn = false;       // JavaScript chooses the protocol.
  bool asks_session = false;    // JavaScript looks up sessions that have no ticket.
  bool asks_status = false;     // JavaScript provides the OCSP response.
  bool tells_sessions = false;  // JavaScript hears of new sessions, and the handshake waits for it.
  bool logs_keys = false;       // JavaScript gets the secrets (kKeyLog).
  bool requests_certificate = false;
  bool rejects_unauthorized = true;
  uint64_t handshake_timeout_ms = 0;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(hosts, ticket_keys, session_id_context, alpn, asks_host, asks_alpn, asks_session,
          asks_status, tells_sessions, logs_keys, requests_certificate, rejects_unauthorized,
          handshake_timeout_ms);
  }
};

// Each Make function returns kNone if a part is missing or out of memory. What it has made can be
// named until Forget(); whoever uses it then keeps it. Thread: any.

TicketKeysId MakeTicketKeys(std::string_view bytes);
// Copies the certificates of one of Node's contexts. Thread: the one that uses `from`.
TlsHostId MakeTlsHost(SSL_CTX* from, bool logs_keys);
// Thread: the one that uses `from`.
TlsContextId MakeTlsContext(SSL_CTX* from, const TlsSettings& settings);
void Forget(TicketKeysId id);
void Forget(TlsHostId id);
void Forget(TlsContextId id);

// Return nullptr for kNone and for numbers that mean nothing any more.
std::shared_ptr<const tls::HostContext> FindTlsHost(TlsHostId id);
std::shared_ptr<const tls::ServerContext> FindTlsContext(TlsContextId id);

}  // namespace httpsys
