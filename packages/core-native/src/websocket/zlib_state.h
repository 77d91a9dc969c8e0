#pragma once
// Parts of zlib for use within src/websocket.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "websocket/zlib_pool.h"

// Makes zlib declare its input pointers as const.
#define ZLIB_CONST
#include <zlib.h>

namespace httpsys::websocket {

// Maximum input bytes for one call of zlib.
inline constexpr size_t kInputBytesMax = size_t{1} << 30;

// The windows and tables of a state, in separate pages: from malloc(), freed memory between other
// blocks would not return to the system. Pages that a short message does not touch cost nothing.
class ZlibPages {
 public:
  static voidpf Allocate(voidpf pages, uInt count, uInt size);
  static void Free(voidpf pages, voidpf memory);

 private:
  // One of zlib's four large allocations.
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  Block blocks_[4];
};

struct ZlibState {
  z_stream stream = {};
  ZlibParameters parameters;
  bool is_deflate = false;
  // True between messages: the state is in the pool's list, and may be taken from its owner.
  bool is_live = false;
  uint32_t turn = 0;
  ZlibUser* user = nullptr;
  // The neighbours in the list of live or of spare states.
  ZlibState* newer = nullptr;
  ZlibState* older = nullptr;
  ZlibPages pages;
};

// Makes a state. Returns nullptr if out of memory.
ZlibState* MakeZlibState(bool is_deflate, const ZlibParameters& parameters);
void FreeZlibState(ZlibState* state);
// Resets a state, except its parameters.
void ResetZlibState(ZlibState* state);
// Appends the history to which the next message may refer. Must be called between messages.
void SaveDictionary(ZlibState* state, ByteBuffer* out);
// Restores the history in a state that was just made or reset.
void RestoreDictionary(ZlibState* state, std::string_view dictionary);

}  // namespace httpsys::websocket
