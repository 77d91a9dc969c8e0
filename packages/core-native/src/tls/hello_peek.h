#pragma once
// The server name in a ClientHello that nobody has read yet: on a shared port it says which process
// has the certificate, before any of them answers (RFC 8446, sections 4.1.2 and 5.1; RFC 6066,
// section 3).

#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::tls {

enum class PeekStatus : uint8_t {
  kNeedMore,
  kHello,  // The name is known; empty = none was given.
  kOther,  // Not the beginning of a TLS connection, or too long: whoever accepted refuses it.
};

// The name in the body of a server_name extension, as it came. Empty when the extension is not what
// OpenSSL takes: one host name and nothing behind it. Thread: any.
std::string_view ServernameOf(std::string_view extension);

// Looks at the first bytes of a connection, which stay where they are. Never fails, whatever the
// bytes. `servername` is that of ServernameOf() in lower case, without a dot at its end. Thread:
// any.
PeekStatus PeekServername(std::string_view bytes, std::string* servername);

}  // namespace httpsys::tls
