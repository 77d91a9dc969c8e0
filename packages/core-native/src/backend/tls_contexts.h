#pragma once
// The TLS settings that JavaScript has made for its servers. They have numbers as ids, because a
// pointer means nothing in another process.

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

// The settings of a context, in addition to Node's own.
struct TlsSettings {
  struct Host {
    std::string pattern;  // A pattern of MatchesHost().
    TlsHostId host{};

    template <typename Visitor>
    void Fields(Visitor& visit) {
      visit(pattern, host);
    }
  };

  std::vector<Host> hosts;     // If several hosts match, the last one is used.
  TicketKeysId ticket_keys{};  // kNone = the keys of the connection's port.
  std::string session_id_context;
  // The server's protocols in order of preference, each after its length; empty = none.
  std::string alpn;
  bool asks_host = false;     // JavaScript chooses the certificate by server name.
  bool asks_alpn = false;     // JavaScript chooses the protocol.
  bool asks_session = false;  // JavaScript looks up sessions that have no ticket.
  bool asks_status = false;   // JavaScript provides the OCSP response.
  // JavaScript gets new sessions, and the handshake waits until it has stored them.
  bool tells_sessions = false;
  bool logs_keys = false;  // JavaScript gets the secrets of handshakes (kKeyLog).
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

// Each Make function returns kNone if a part is missing or out of memory. The object can be found
// by its id until Forget(); users of the object keep it alive. Thread: any.

TicketKeysId MakeTicketKeys(std::string_view bytes);
// Copies the certificates of one of Node's contexts. Thread: the one that uses `from`.
TlsHostId MakeTlsHost(SSL_CTX* from, bool logs_keys);
// Makes a context from one of Node's and from JavaScript's settings. Thread: the one that uses
// `from`.
TlsContextId MakeTlsContext(SSL_CTX* from, const TlsSettings& settings);
void Forget(TicketKeysId id);
void Forget(TlsHostId id);
void Forget(TlsContextId id);

// Each returns nullptr for kNone and for ids that were forgotten.
std::shared_ptr<const tls::HostContext> FindTlsHost(TlsHostId id);
std::shared_ptr<const tls::ServerContext> FindTlsContext(TlsContextId id);

}  // namespace httpsys
