#include "tls/client_hello.h"

#include <openssl/ssl.h>
#include <openssl/tls1.h>

#include <cstddef>
#include <cstdint>

#include "base/ascii.h"
#include "tls/hello_peek.h"

namespace httpsys::tls {
namespace {

size_t Word16(std::string_view bytes, size_t at) {
  return static_cast<size_t>(static_cast<uint8_t>(bytes[at])) << 8 |
         static_cast<uint8_t>(bytes[at + 1]);
}

std::string_view Extension(SSL* ssl, unsigned type) {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, type, &bytes, &size) != 1) return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

// Removes the first protocol from a list and returns it; empty at the end of the list.
std::string_view NextProtocol(std::string_view* list) {
  if (list->empty()) return {};
  const size_t size = static_cast<uint8_t>(list->front());
  if (size == 0 || size + 1 > list->size()) {
    *list = {};
    return {};
  }
  const std::string_view protocol = list->substr(1, size);
  list->remove_prefix(size + 1);
  return protocol;
}

}  // namespace

ClientHello ReadClientHello(SSL* ssl) {
  ClientHello hello;
  hello.servername = ServernameOf(Extension(ssl, TLSEXT_TYPE_server_name));
  hello.alpn = AlpnOf(Extension(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation));
  const unsigned char* id = nullptr;
  const size_t id_size = SSL_client_hello_get0_session_id(ssl, &id);
  hello.session_id.assign(reinterpret_cast<const char*>(id), id_size);
  hello.has_ticket = !Extension(ssl, TLSEXT_TYPE_session_ticket).empty();
  hello.wants_status =
      Extension(ssl, TLSEXT_TYPE_status_request).starts_with(char{TLSEXT_STATUSTYPE_ocsp});
  return hello;
}

std::string_view AlpnOf(std::string_view extension) {
  if (extension.size() < 2 || Word16(extension, 0) != extension.size() - 2) return {};
  return extension.substr(2);
}

std::string_view ChooseProtocol(std::string_view ours, std::string_view theirs) {
  while (true) {
    const std::string_view wanted = NextProtocol(&ours);
    if (wanted.empty()) return {};
    for (std::string_view rest = theirs;;) {
      const std::string_view offered = NextProtocol(&rest);
      if (offered.empty()) break;
      if (offered == wanted) return offered;
    }
  }
}

// Backtracks only to the last `*` of the pattern: tries the rest of the pattern at each character
// of the label. So the time is at most the product of the lengths.
bool MatchesHost(std::string_view pattern, std::string_view host) {
  size_t at = 0;
  size_t star = std::string_view::npos;
  size_t star_host = 0;
  for (size_t i = 0; i < host.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_host = i;
    } else if (at < pattern.size() && LowerCase(pattern[at]) == LowerCase(host[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos && host[star_host] != '.') {
      at = star + 1;
      i = ++star_host;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace httpsys::tls
