#pragma once
// Writes a request of HTTP/2 as text of HTTP/1.1, for the member of a shared port that answers it.

#include <string>
#include <string_view>
#include <vector>

#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::http2 {

// Appends a head of RequestFields::Finish(). Returns how the body that follows must be framed: a
// body with a length goes in chunks if its client announces trailers.
http1::BodyKind AppendRequestHead(const http1::MethodTable& methods, const http1::RequestHead& head,
                                  std::string* text);
// Appends a chunk. Appends nothing for an empty piece, which would end the body.
void AppendChunk(std::string_view piece, std::string* text);
// Appends the last chunk, with trailers as AppendLines() makes them.
void AppendLastChunk(std::string_view trailers, std::string* text);
void AppendLines(const std::vector<http1::HeaderLine>& lines, std::string* text);

}  // namespace httpsys::http2
