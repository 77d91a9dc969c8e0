#pragma once
// What only the module itself sees of zlib.

#include <cstdint>

#include "websocket/zlib_pool.h"

// zlib's input pointers would not be const otherwise.
#define ZLIB_CONST
#include <zlib.h>

namespace httpsys::websocket {

struct ZlibState {
  z_stream stream = {};
  ZlibParameters parameters;
  bool is_deflate = false;
  // Whether its owner is between messages: then it is in the pool's list and may be taken away.
  bool is_live = false;
  uint32_t turn = 0;
  ZlibUser* user = nullptr;
  // In the list of live or of spare states.
  ZlibState* newer = nullptr;
  ZlibState* older = nullptr;
};

}  // namespace httpsys::websocket
