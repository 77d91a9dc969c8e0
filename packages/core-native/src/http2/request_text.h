#pragma once
// Writes an HTTP/2 request as HTTP/1.1 text, for another member of a shared port that answers it.

#include <string>
#include <string_view>
#include <vector>

#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::http2 {

// Appends the head that RequestFields::Finish() has made. Returns the framing of the body that
// follows: a body of known length is chunked if the client announces trailers.
http1::BodyKind AppendRequestHead(const http1::MethodTable& methods, const http1::RequestHead& head,
                                  std::string* text);
// Appends a chunk. Appends nothing for an empty piece, because an empty chunk would end the body.
void AppendChunk(std::string_view piece, std::string* text);
// Appends the last chunk. `trailers` are lines made by AppendLines().
void AppendLastChunk(std::string_view trailers, std::string* text);
void AppendLines(const std::vector<http1::HeaderLine>& lines, std::string* text);

}  // namespace httpsys::http2
