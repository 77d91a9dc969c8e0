#pragma once
// A request of HTTP/1.1 that asks for HTTP/2 (RFC 7540, section 3.2).

#include <string>

#include "http1/request_parser.h"
#include "http2/request_fields.h"

namespace httpsys::http2 {

// Whether it does, in a form that has a meaning as a stream: then the payload of the SETTINGS frame
// that it has with it. What is malformed about it leaves it a request of HTTP/1.1.
bool ReadUpgrade(const http1::RequestHead& head, std::string* settings);

// The fields of stream 1: without those about the connection.
void AddUpgradedFields(const http1::RequestHead& head, std::string_view method,
                       RequestFields* fields);

}  // namespace httpsys::http2
