#pragma once
// Requests that a cache makes itself, from a request of a client.

#include <cstdint>
#include <optional>

#include "cache/vary.h"
#include "http1/request_parser.h"

namespace httpsys::cache {

// Both functions make the head of a GET without a body, which has no field that concerns the
// connection of a client, a response that a client has already, the part of it that a client wants,
// or who asks. `get_method` is the index of GET in the method table of the server. Views of the
// result are those of `request`. Thread: any.

// Returns the request by which a stored response is refreshed (RFC 9111, section 4.3.1): with the
// target of a request that the response may answer, and with those of its fields on which the
// response depends: Host, the forwarding fields (IsForwardingField) and what `vary`, the names of
// the stored response, has. Nothing else of the client may decide what others get. Returns nothing
// if the response depends on a field that such a request cannot have.
[[nodiscard]] std::optional<http1::RequestHead> MakeRefreshHead(const http1::RequestHead& request,
                                                                const VaryNames& vary,
                                                                uint16_t get_method);

// Returns the request that is made in place of one for which nothing is stored. Nobody knows on
// which fields its response will depend, so that the others of the client's stay.
[[nodiscard]] http1::RequestHead MakeSubstituteHead(const http1::RequestHead& request,
                                                    uint16_t get_method);

}  // namespace httpsys::cache
