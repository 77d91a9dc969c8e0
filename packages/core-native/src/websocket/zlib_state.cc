#include "websocket/zlib_state.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace httpsys::websocket {
namespace {

// Smallest block that is allocated as pages: smaller ones would waste most of a page.
constexpr size_t kBlockBytesMin = 16 * 1024;
constexpr size_t kWindowBytesMax = 32 * 1024;

}  // namespace

voidpf ZlibPages::Allocate(voidpf pages, uInt count, uInt size) {
  const size_t bytes = size_t{count} * size;
  for (Block& block : static_cast<ZlibPages*>(pages)->blocks_) {
    if (bytes < kBlockBytesMin || block.memory != nullptr) continue;
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    block = {memory, bytes};
    return memory;
  }
  return std::malloc(bytes);
}

void ZlibPages::Free(voidpf pages, voidpf memory) {
  for (Block& block : static_cast<ZlibPages*>(pages)->blocks_) {
    if (block.memory != memory) continue;
    munmap(block.memory, block.bytes);
    block = {};
    return;
  }
  std::free(memory);
}

ZlibState* MakeZlibState(bool is_deflate, const ZlibParameters& parameters) {
  auto* state = new ZlibState;
  state->is_deflate = is_deflate;
  state->parameters = parameters;
  z_stream& stream = state->stream;
  stream.zalloc = ZlibPages::Allocate;
  stream.zfree = ZlibPages::Free;
  stream.opaque = &state->pages;
  // Negative bits stand for a stream without zlib's own header. For 8 bits see ZlibParameters.
  const int bits = parameters.window_bits;
  const int result = is_deflate
                         ? deflateInit2(&stream, parameters.level, Z_DEFLATED, -std::max(bits, 9),
                                        parameters.mem_level, parameters.strategy)
                         : inflateInit2(&stream, -bits);
  if (result == Z_OK) return state;
  delete state;
  return nullptr;
}

void FreeZlibState(ZlibState* state) {
  if (state->is_deflate) {
    deflateEnd(&state->stream);
  } else {
    inflateEnd(&state->stream);
  }
  delete state;
}

void ResetZlibState(ZlibState* state) {
  const int result =
      state->is_deflate ? deflateReset(&state->stream) : inflateReset(&state->stream);
  HTTPSYS_CHECK(result == Z_OK);
}

void SaveDictionary(ZlibState* state, ByteBuffer* out) {
  Bytef window[kWindowBytesMax];
  uInt size = 0;
  const int result = state->is_deflate ? deflateGetDictionary(&state->stream, window, &size)
                                       : inflateGetDictionary(&state->stream, window, &size);
  HTTPSYS_CHECK(result == Z_OK && size <= sizeof window);
  std::string_view dictionary(reinterpret_cast<const char*>(window), size);
  if (state->is_deflate && size > kDeflateDictionaryBytesMax) {
    dictionary.remove_prefix(size - kDeflateDictionaryBytesMax);
  }
  out->Append(dictionary);
}

void RestoreDictionary(ZlibState* state, std::string_view dictionary) {
  if (dictionary.empty()) return;
  const auto* bytes = reinterpret_cast<const Bytef*>(dictionary.data());
  const auto size = static_cast<uInt>(dictionary.size());
  const int result = state->is_deflate ? deflateSetDictionary(&state->stream, bytes, size)
                                       : inflateSetDictionary(&state->stream, bytes, size);
  HTTPSYS_CHECK(result == Z_OK);
}

}  // namespace httpsys::websocket
