#pragma once
// Facts about a TLS session for handlers: its version and cipher, the certificates of both sides,
// and its secrets. Thread: that of the session.

#include <openssl/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tls/facts.h"

namespace httpsys::tls {

// Questions of JavaScript about an open connection.
enum class Question : uint32_t {
  kSession = 1,
  kFinished = 2,
  kPeerFinished = 3,
  kCertificate = 4,  // The server's own certificate, DER.
  kKeyingMaterial = 5,
  kSharedSigalgs = 6,  // One name per line.
};

// Answers JavaScript's question about the session; empty = no answer.
std::string AnswerQuestion(SSL* ssl, Question question, std::string_view argument);

// Returns the properties of a session after its handshake, without the server name. `has_asked`:
// the server has requested a client certificate. The views live as long as the session.
Facts DescribeSession(const SSL* ssl, bool has_asked);

// Returns the terms of a handshake, except its trust. `has_asked` as in DescribeSession().
HandshakeTerms TermsOf(const SSL* ssl, bool has_asked);

// The protocol chosen by ALPN; empty = none.
std::string_view ChosenProtocol(const SSL* ssl);

// Returns true if the session's server certificate is valid for `host`, a name or an address.
bool CoversHost(const SSL* ssl, std::string_view host);

}  // namespace httpsys::tls
