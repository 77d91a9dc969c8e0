#pragma once
// Allocates the memory of nghttp2's sessions from small_blocks.h.

#include "http2/nghttp2_api.h"

namespace httpsys::http2 {

// Returns allocation functions for any number of sessions. Thread: any.
NgMemory SmallBlockMemory();

}  // namespace httpsys::http2
