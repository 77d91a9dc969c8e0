#pragma once
// Requests that a cache makes itself, from a request of a client.

#include <cstdint>
#include <optional>

#include "cache/vary.h"
#include "http1/request_parser.h"

namespace httpsys::cache {

// Both functions return the head of a GET without a body and without fields that concern a single
// client: its connection, cached copy, wanted range, or credentials. `get_method` is the index of
// GET in the method table of the server. The result views the texts of `request`. Thread: any.

// Returns the request by which a stored response is refreshed (RFC 9111, section 4.3.1). `request`
// is one that the response may answer. Keeps only fields on which the response depends: Host, the
// forwarding fields (IsForwardingField) and the fields in `vary`; no other field may affect the
// response for others. Returns nothing if the response depends on a field that must be left out.
[[nodiscard]] std::optional<http1::RequestHead> MakeRefreshHead(const http1::RequestHead& request,
                                                                const VaryNames& vary,
                                                                uint16_t get_method);

// Returns the request that the cache makes in place of `request`, for which nothing is stored.
// Keeps all other fields of the client, because the response may depend on any of them.
[[nodiscard]] http1::RequestHead MakeSubstituteHead(const http1::RequestHead& request,
                                                    uint16_t get_method);

}  // namespace httpsys::cache
