#pragma once
// The functions of Brotli's and Zstandard's encoders that the running program has: node exports its
// own. They are found by name, so that the addon is built without their headers, and loads where
// they are missing: Node 20 has no Zstandard. zlib needs no such search, as its header comes with
// node.

#include <cstddef>
#include <cstdint>

namespace httpsys::encoders {

struct ZstdContext;

// Members have the names of the functions. nullptr = the program does not have the function.
struct EncoderApi {
  // Compresses `bytes` at once. *to_bytes is the room first, and then the size of the result.
  // Returns 0 if the room is not enough.
  int (*BrotliEncoderCompress)(int quality, int window_bits, int mode, size_t bytes,
                               const uint8_t* from, size_t* to_bytes, uint8_t* to) = nullptr;

  ZstdContext* (*ZSTD_createCCtx)() = nullptr;
  size_t (*ZSTD_freeCCtx)(ZstdContext*) = nullptr;
  size_t (*ZSTD_CCtx_setParameter)(ZstdContext*, int parameter, int value) = nullptr;
  // Returns the size of the result, or what ZSTD_isError() says is none.
  size_t (*ZSTD_compress2)(ZstdContext*, void* to, size_t to_bytes, const void* from,
                           size_t bytes) = nullptr;
  unsigned (*ZSTD_isError)(size_t) = nullptr;

  // Looks for the functions.
  EncoderApi();

  bool has_brotli() const { return BrotliEncoderCompress != nullptr; }
  bool has_zstd() const {
    return ZSTD_createCCtx != nullptr && ZSTD_freeCCtx != nullptr &&
           ZSTD_CCtx_setParameter != nullptr && ZSTD_compress2 != nullptr &&
           ZSTD_isError != nullptr;
  }

  // Those of the process. Thread: any.
  static const EncoderApi& Get();
};

}  // namespace httpsys::encoders
