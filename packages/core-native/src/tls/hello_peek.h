#pragma once
// Reads the server name in a ClientHello without consuming the bytes. On a shared port the name
// decides which process has the certificate, before any process answers (RFC 8446, sections 4.1.2
// and 5.1; RFC 6066, section 3).

#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::tls {

enum class PeekStatus : uint8_t {
  kNeedMore,
  kHello,  // The ClientHello was found; an empty name = it names no server.
  // No TLS connection, or the ClientHello is too long: the accepting process refuses it.
  kOther,
};

// Returns the name in the body of a server_name extension, as received. Empty if OpenSSL would
// refuse the extension: it must have exactly one host name and nothing behind it. Thread: any.
std::string_view ServernameOf(std::string_view extension);

// Searches the first bytes of a connection, which may be anything, for a server name. Sets
// `servername` to the result of ServernameOf(), in lower case and without a final dot. Thread: any.
PeekStatus PeekServername(std::string_view bytes, std::string* servername);

}  // namespace httpsys::tls
