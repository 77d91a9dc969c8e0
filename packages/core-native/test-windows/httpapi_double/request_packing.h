#pragma once

#include "model.h"

namespace httpapi_double {

// Writes a request into a caller's memory as HttpReceiveHttpRequest() does: the
// structure, and behind it what it points to. With `copies_body` what has
// arrived of the body is moved there, as far as there is room. NO_ERROR, or
// ERROR_MORE_DATA with the id in the structure and in `needed` the bytes that
// it takes; with NO_ERROR the bytes that it took.
ULONG PackRequest(Request* request, bool copies_body, HTTP_REQUEST* memory, ULONG bytes,
                  ULONG* needed);

}  // namespace httpapi_double
