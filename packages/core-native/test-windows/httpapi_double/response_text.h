#pragma once

#include <cstdint>
#include <string>

#include "model.h"

namespace httpapi_double {

// The head of a response as it is sent, without the empty line. False:
// ERROR_INVALID_PARAMETER. `length` is the body's, for a response that is whole
// and names none; or negative.
bool ComposeHead(const HTTP_RESPONSE& response, int64_t length, bool closes, std::string* head);
// Whether it has that header.
bool HasHeader(const HTTP_RESPONSE& response, HTTP_HEADER_ID id);
std::string HeaderValue(const HTTP_RESPONSE& response, HTTP_HEADER_ID id);
// The bytes of chunks from memory, files and the cache. NO_ERROR or what is
// wrong with them.
uint32_t GatherChunks(const HTTP_DATA_CHUNK* chunks, size_t count, std::string* bytes);
// Statuses whose responses end with the head.
bool HasNoBody(uint16_t status);

}  // namespace httpapi_double
