#pragma once
// The parts of zlib that only src/websocket uses.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "websocket/zlib_pool.h"

// zlib's input pointers would not be const otherwise.
#define ZLIB_CONST
#include <zlib.h>

namespace httpsys::websocket {

// Most bytes of input that are given to zlib at once.
inline constexpr size_t kInputBytesMax = size_t{1} << 30;

// The windows and tables of a state, in pages of their own: malloc would keep what is freed between
// other blocks for itself. Pages that a short message does not touch cost nothing.
class ZlibPages {
 public:
  static voidpf Allocate(voidpf pages, uInt count, uInt size);
  static void Free(voidpf pages, voidpf memory);

 private:
  // zlib has four large blocks.
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
  // True if the owner is between messages: then the state is in the pool's list and may be taken
  // away.
  bool is_live = false;
  uint32_t turn = 0;
  ZlibUser* user = nullptr;
  // The neighbours in the list of live or of spare states.
  ZlibState* newer = nullptr;
  ZlibState* older = nullptr;
  ZlibPages pages;
};

// Returns nullptr if out of memory.
ZlibState* MakeZlibState(bool is_deflate, const ZlibParameters& parameters);
void FreeZlibState(ZlibState* state);
// Resets a state, which keeps its parameters.
void ResetZlibState(ZlibState* state);
// Appends the history that the next message may refer to. Only between messages.
void SaveDictionary(ZlibState* state, ByteBuffer* out);
// Restores the history of a state that was just made or reset.
void RestoreDictionary(ZlibState* state, std::string_view dictionary);

}  // namespace httpsys::websocket
