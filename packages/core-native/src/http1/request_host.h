#pragma once
// The host that a request is for (RFC 9112, sections 3.2 and 3.3).

#include "http1/request_parser.h"
#include "url/host_name.h"

namespace httpsys::http1 {

// The host of an absolute-form target or of CONNECT's target, otherwise that of the Host line.
// Invalid when the request has more than one Host line, equal ones included, when it is HTTP/1.1 or
// later and has none, when the value of its line or the authority of its target is none, and when
// CONNECT names no port. A server of URL prefixes refuses such a request. Views into what `head`
// views. Thread: any.
[[nodiscard]] HostName HostOf(const RequestHead& head);

}  // namespace httpsys::http1
