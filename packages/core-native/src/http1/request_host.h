#pragma once
// The host for which a request is meant (RFC 9112, sections 3.2 and 3.3).

#include "http1/request_parser.h"
#include "url/host_name.h"

namespace httpsys::http1 {

// Returns the host of an absolute-form target or of CONNECT's target, otherwise of the Host line.
// Returns an invalid host if the request has several Host lines (even equal ones); if it is
// HTTP/1.1 or later and has none; if the line's value or the target's authority is malformed; or if
// CONNECT names no port. A server with URL prefixes refuses such requests. The result views the
// same memory as `head`. Thread: any.
[[nodiscard]] HostName HostOf(const RequestHead& head);

}  // namespace httpsys::http1
