#pragma once
// Texts of native answers, which the engine gives without JavaScript.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Returns node:http's answer to a refused message, with Connection: close.
std::string_view RefusalReply(records::ErrorKind kind);

// Returns the answer to plain HTTP on a port that serves TLS, as text for the user. It has
// Connection: close.
std::string_view PlainHttpReply();

// Appends HTTP.SYS' answer to a request that no server handles. The body names `reason`, unless
// `reason` is empty. Returns the size of the head, which has no Connection field.
size_t AppendRouteReply(RouteStatus status, std::string_view reason, bool is_head_request,
                        std::string* output);

// Returns the 503 for a request whose owner has died and whose method is not known. It has no body,
// because the method may be HEAD, and has Connection: close.
std::string_view OfflineReply();

}  // namespace httpsys::engine
