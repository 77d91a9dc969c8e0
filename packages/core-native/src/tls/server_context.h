#pragma once
// What the TLS of a server is made of. Node has read and checked the options and made the contexts
// of OpenSSL; here they get what lanes need.

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

// The certificates of one host, and whom it trusts. Immutable.
class HostContext {
 public:
  // Copies them from a context of Node's, which may go on being used there. nullptr when out of
  // memory. With `logs_keys` its sessions keep their key log. Thread: the one that uses `from`.
  static std::shared_ptr<const HostContext> Copy(SSL_CTX* from, bool logs_keys = false);

  SSL_CTX* context() const { return context_.get(); }
  // Different for other certificates and other trust.
  const std::string& identity() const { return identity_; }
  // Different for other trust alone.
  const std::string& trust() const { return trust_; }

 private:
  ContextPtr context_;
  std::string identity_;
  std::string trust_;
};

struct ContextSettings {
  struct Host {
    std::string pattern;  // See MatchesHost().
    std::shared_ptr<const HostContext> context;
  };

  SSL_CTX* context = nullptr;               // For lanes alone; not taken over.
  std::vector<Host> hosts;                  // The last one that fits counts.
  std::shared_ptr<TicketKeys> ticket_keys;  // nullptr = those of the connection's port.
  std::string session_id_context;
  std::string alpn;             // Protocols by preference, each after its length; empty = none.
  bool asks_host = false;       // JavaScript chooses by server name,
  bool asks_alpn = false;       // and the protocol,
  bool asks_session = false;    // looks sessions up that are in no ticket,
  bool asks_status = false;     // and answers about certificates (OCSP).
  bool tells_sessions = false;  // It hears of new ones, and the handshake waits for it.
  bool logs_keys = false;       // It gets the secrets (Session::TakeKeyLog()).
  bool requests_certificate = false;
  bool rejects_unauthorized = true;
  uint64_t handshake_timeout_ms = 0;
};

// One version of a server's settings. Immutable, shared by the lanes.
class ServerContext {
 public:
  // nullptr when a part is missing or out of memory. Thread: the one that made the context.
  static std::shared_ptr<const ServerContext> Create(ContextSettings settings);

  const ContextSettings& settings() const { return settings_; }
  SSL_CTX* context() const { return context_.get(); }
  // nullptr = that of the server.
  std::shared_ptr<const HostContext> FindHost(std::string_view servername) const;
  // Binds sessions to what they were made with: one of host A never stands for what host B asks.
  std::string SessionIdContext(const HostContext* host) const;
  // Whom a client's certificate has to come from, of all processes the same for the same.
  const std::string& TrustOf(const HostContext* host) const {
    return host == nullptr ? trust_ : host->trust();
  }
  // What the server demands of a handshake that another server has made, for requests to a host: a
  // name without a port, an IP address, or nothing.
  OwnerTerms TermsFor(std::string_view host, const HandshakeTerms& handshake) const;
  // A digest of the rules by which clients of a prefix are asked for certificates: equal for
  // servers that ask by the same rules, or for none. `unique` names the server among all: where
  // JavaScript chooses by name, the digest is that server's alone.
  std::string TermsDigest(const UrlPrefix& prefix, std::string_view unique) const;

 private:
  void FindCiphers();

  ContextSettings settings_;
  ContextPtr context_;
  std::string identity_;
  std::string trust_;
  // Versions that clients may negotiate, each with OpenSSL's names of its ciphers, sorted.
  std::vector<std::pair<int, std::vector<std::string>>> ciphers_;
};

}  // namespace httpsys::tls
