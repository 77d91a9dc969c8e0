#pragma once
// Requests of HTTP/1.1 that ask for an upgrade to HTTP/2 (RFC 7540, section 3.2).

#include <string>

#include "http1/request_parser.h"
#include "http2/request_fields.h"

namespace httpsys::http2 {

// Returns true if the request asks for HTTP/2 and can become stream 1; `settings` is then the
// payload of its SETTINGS frame. If anything about the upgrade is malformed, the request stays one
// of HTTP/1.1.
bool ReadUpgrade(const http1::RequestHead& head, std::string* settings);

// Adds the fields of stream 1, which are those of the request without fields about the connection.
void AddUpgradedFields(const http1::RequestHead& head, std::string_view method,
                       RequestFields* fields);

}  // namespace httpsys::http2
