#pragma once
// The TLS settings of a server for its lanes. Node has checked them and made OpenSSL's contexts.

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tls/context_options.h"
#include "tls/facts.h"
#include "tls/ticket_keys.h"
#include "url/url_prefix.h"

namespace httpsys::tls {

struct ContextDeleter {
  void operator()(SSL_CTX* context) const;
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

// The certificates of one host, and its trusted authorities. Immutable.
class HostContext {
 public:
  // Copies a context of Node, which Node may still use. With `logs_keys`, sessions record their key
  // log. Returns nullptr if out of memory. Thread: the one that uses `from`.
  static std::shared_ptr<const HostContext> Copy(SSL_CTX* from, bool logs_keys = false);

  SSL_CTX* context() const { return context_.get(); }
  const std::string& identity() const { return identity_; }
  const std::string& trust() const { return trust_; }

 private:
  ContextPtr context_;
  std::string identity_;
  std::string trust_;
};

struct ContextSettings : ContextOptions {
  struct Host {
    std::string pattern;  // A pattern of MatchesHost().
    std::shared_ptr<const HostContext> context;
  };

  // The OpenSSL context, which lanes do not change. The caller keeps its reference.
  SSL_CTX* context = nullptr;
  std::vector<Host> hosts;                  // If several hosts match, the last one is used.
  std::shared_ptr<TicketKeys> ticket_keys;  // nullptr = the keys of the connection's port.
};

// One version of a server's TLS settings. Immutable, and shared by the lanes.
class ServerContext {
 public:
  // Makes a context from settings. Returns nullptr if a part is missing or out of memory. Thread:
  // the one that made `settings.context`.
  static std::shared_ptr<const ServerContext> Create(ContextSettings settings);

  const ContextSettings& settings() const { return settings_; }
  SSL_CTX* context() const { return context_.get(); }
  // Returns the host of a server name; nullptr = the server's own context.
  std::shared_ptr<const HostContext> FindHost(std::string_view servername) const;
  // Returns the session id context. It binds sessions to their host: OpenSSL never resumes a
  // session of host A for host B.
  std::string SessionIdContext(const HostContext* host) const;
  // Returns a digest of the authorities that must have signed a client's certificate. All processes
  // have the same digest for the same authorities.
  const std::string& TrustOf(const HostContext* host) const {
    return host == nullptr ? trust_ : host->trust();
  }
  // Returns what the server requires of a handshake that another server has made, for requests to
  // `host`: a name without a port, an IP address, or an empty text.
  OwnerTerms TermsFor(std::string_view host, const HandshakeTerms& handshake) const;
  // Returns a digest of the rules by which the server requests certificates from clients of a
  // prefix. Equal for servers with the same rules, and for all that request none. If JavaScript
  // chooses the certificate by name, `unique`, which identifies the server, is added.
  std::string TermsDigest(const UrlPrefix& prefix, std::string_view unique) const;
  // A digest of the TLS versions and ciphers that clients may negotiate. If two servers have the
  // same digest, each would have accepted every handshake of the other.
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
