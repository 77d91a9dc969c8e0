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
#include "base/fields.h"
#include "tls/context_options.h"

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

    HTTPSYS_FIELDS(pattern, host);
  };

  std::vector<Host> hosts;     // If several hosts match, the last one is used.
  TicketKeysId ticket_keys{};  // kNone = the keys of the connection's port.
  tls::ContextOptions options;

  HTTPSYS_FIELDS(hosts, ticket_keys, options);
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

// Return the object with this id; nullptr for kNone and for ids that were forgotten.
std::shared_ptr<const tls::HostContext> FindTlsHost(TlsHostId id);
std::shared_ptr<const tls::ServerContext> FindTlsContext(TlsContextId id);

}  // namespace httpsys
