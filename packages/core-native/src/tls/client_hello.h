#pragma once
// Reads a ClientHello, and matches its protocols and host name with the server's.

#include <openssl/types.h>

#include <string>
#include <string_view>

#include "tls/facts.h"

namespace httpsys::tls {

// Reads the ClientHello. Must be called within the callback of SSL_CTX_set_client_hello_cb(). A
// malformed extension counts as absent: the handshake itself refuses it.
ClientHello ReadClientHello(SSL* ssl);

// Returns the protocol list in the body of an ALPN extension.
std::string_view AlpnOf(std::string_view extension);

// Returns the first protocol of `ours` that `theirs` contains; empty if there is none. Both are
// ALPN lists in wire format, and are read up to the first malformed entry.
std::string_view ChooseProtocol(std::string_view ours, std::string_view theirs);

// Returns true if the host matches the pattern. `*` in the pattern stands for one label or a part
// of it. Case does not matter.
bool MatchesHost(std::string_view pattern, std::string_view host);

}  // namespace httpsys::tls
