#pragma once
// What a client asks for before anything is decided, and what fits it.

#include <openssl/types.h>

#include <string>
#include <string_view>

#include "tls/facts.h"

namespace httpsys::tls {

// Within the callback of SSL_CTX_set_client_hello_cb(). What is malformed counts as not given: the
// handshake itself refuses it.
ClientHello ReadClientHello(SSL* ssl);

// The list in the body of an ALPN extension.
std::string_view AlpnOf(std::string_view extension);

// The first of `ours` that is among `theirs`; empty when there is none. Both are lists as on the
// wire, and so well-formed or cut off at what is not.
std::string_view ChooseProtocol(std::string_view ours, std::string_view theirs);

// `*` stands for one label or a part of it; host names have no case.
bool MatchesHost(std::string_view pattern, std::string_view host);

}  // namespace httpsys::tls
