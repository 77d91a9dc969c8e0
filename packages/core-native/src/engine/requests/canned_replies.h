#pragma once
// Replies that the engine sends without JavaScript.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// What node:http sends for a refused message; closes the connection.
std::string_view RefusalReply(records::ErrorKind kind);

// For a request that nobody serves, in the words of HTTP.SYS; a reason that is not empty is named.
// Appends a whole response; returns the bytes of its head.
size_t AppendRouteReply(RouteStatus status, std::string_view reason, bool is_head_request,
                        bool keep_alive, std::string* output);

// The 503 for a request whose owner has died, where the request is not known any more: it serves
// HEAD as well. Closes the connection.
std::string_view OfflineReply();

}  // namespace httpsys::engine
