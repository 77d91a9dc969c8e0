#pragma once
// The TLS settings of a server, for lanes. Node has read and checked the options and made OpenSSL's
// contexts.

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tls/terms.h"
#include "tls/ticket_keys.h"
#include "url/url_prefix.h"

namespace httpsys::tls {

struct ContextDeleter {
  void operator()(SSL_CTX* context) const;
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

// The certificates of one host, and the authorities it trusts. Immutable.
class HostContext {
 public:
  // Copies a context of Node, which may still be used there. With `logs_keys`, sessions keep their
  // key log. Returns nullptr if out of memory. Thread: the one that uses `from`.
  static std::shared_ptr<const HostContext> Copy(SSL_CTX* from, bool logs_keys = false);

  SSL_CTX* context() const { return context_.get(); }
  // Identifies the certificates and the trust.
  const std::string& identity() const { return identity_; }
  // Identifies the trust alone.
  const std::string& trust() const { return trust_; }

 private:
  ContextPtr context_;
  std::string identity_;
  std::string trust_;
};

struct ContextSettings {
  struct Host {
    std::string pattern;  // A pattern of MatchesHost().
    std::shared_ptr<const HostContext> context;
  };

  SSL_CTX* context = nullptr;               // Used by lanes only. Not taken over.
  std::vector<Host> hosts;                  // The last host that matches is used.
  std::shared_ptr<TicketKeys> ticket_keys;  // nullptr = those of the connection's port.
  std::string session_id_context;
  std::string alpn;  // The server's protocols by preference, each after its length; empty = none.
  bool asks_host = false;       // JavaScript chooses the certificate by server name.
  bool asks_alpn = false;       // JavaScript chooses the protocol.
  bool asks_session = false;    // JavaScript looks up sessions that have no ticket.
  bool asks_status = false;     // JavaScript provides the OCSP response.
  bool tells_sessions = false;  // JavaScript hears of new sessions, and the handshake waits for it.
  bool logs_keys = false;       // JavaScript gets the secrets (Session::TakeKeyLog()).
  bool requests_certificate = false;
  bool rejects_unauthorized = true;
  uint64_t handshake_timeout_ms = 0;
};

// One version of a server's TLS settings. Immutable, and shared by the lanes.
class ServerContext {
 public:
  // Returns nullptr if a part is missing or out of memory. Thread: the one that made the context.
  static std::shared_ptr<const ServerContext> Create(ContextSettings settings);

  const ContextSettings& settings() const { return settings_; }
  SSL_CTX* context() const { return context_.get(); }
  // Returns the context for a server name; nullptr = the server's own.
  std::shared_ptr<const HostContext> FindHost(std::string_view servername) const;
  // The session id context. It binds sessions to their host, so that a session made for host A is
  // never resumed for host B.
  std::string SessionIdContext(const HostContext* host) const;
  // Identifies the authorities that a client's certificate must come from. The same for the same
  // authorities in all processes.
  const std::string& TrustOf(const HostContext* host) const {
    return host == nullptr ? trust_ : host->trust();
  }
  // What the server demands of a handshake that another server has made, for requests to `host`: a
  // name without a port, an IP address, or an empty text.
  OwnerTerms TermsFor(std::string_view host, const HandshakeTerms& handshake) const;
  // A digest of the rules by which clients of a prefix are asked for certificates: equal for
  // servers that ask by the same rules, and for servers that do not ask. `unique` names the server:
  // if JavaScript chooses by name, nobody else has the same digest.
  std::string TermsDigest(const UrlPrefix& prefix, std::string_view unique) const;
  // A digest of the versions and ciphers that clients may negotiate. If two servers have the same
  // one, each would have made every handshake that the other has made.
  const std::string& negotiation() const { return negotiation_; }

 private:
  void FindCiphers();

  ContextSettings settings_;
  ContextPtr context_;
  std::string identity_;
  std::string trust_;
  std::string negotiation_;
  // The TLS versions that clients may negotiate, each with OpenSSL's names of its ciphers, sorted.
  std::vector<std::pair<int, std::vector<std::string>>> ciphers_;
};

}  // namespace httpsys::tls
