#pragma once
// A request of HTTP/2 as text of HTTP/1.1, for the member of a shared port that answers it.

#include <string>
#include <string_view>
#include <vector>

#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::http2 {

// Appends the head that RequestFields::Finish() has made. Returns how the body that follows is to
// be framed: one with a length goes in chunks when its client announces trailers.
http1::BodyKind AppendRequestHead(const http1::MethodTable& methods, const http1::RequestHead& head,
                                  std::string* text);
// A piece of a body without a length; nothing when it is empty, which would be the end.
void AppendChunk(std::string_view piece, std::string* text);
// Its end, with trailers as AppendLines() makes them.
void AppendLastChunk(std::string_view trailers, std::string* text);
void AppendLines(const std::vector<http1::HeaderLine>& lines, std::string* text);

}  // namespace httpsys::http2
