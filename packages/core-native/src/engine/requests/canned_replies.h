#pragma once
// The texts of answers that the engine gives without JavaScript.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// The answer of node:http to a refused message. It says that the connection closes.
std::string_view RefusalReply(records::ErrorKind kind);

// The answer to a client that speaks plain HTTP where TLS is served, for its user to read. It says
// that the connection closes.
std::string_view PlainHttpReply();

// Appends the answer of HTTP.SYS to a request that nobody serves; names `reason` if that is not
// empty. Returns the bytes of its head, which does not name Connection.
size_t AppendRouteReply(RouteStatus status, std::string_view reason, bool is_head_request,
                        std::string* output);

// The 503 for a request whose owner has died and whose method is not known: it has no body, so that
// it serves HEAD as well. It says that the connection closes.
std::string_view OfflineReply();

}  // namespace httpsys::engine
