#pragma once
// Where nghttp2's sessions have their memory from: small_blocks.h.

#include "http2/nghttp2_api.h"

namespace httpsys::http2 {

// For any number of sessions. Thread: any.
NgMemory SmallBlockMemory();

}  // namespace httpsys::http2
