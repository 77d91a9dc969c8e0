#pragma once
// Functions of the Brotli and Zstandard encoders that node exports, found by name: so the addon
// builds without their headers, and loads where they are missing (Node 20 has no Zstandard). zlib
// needs no search, because its header comes with node.

#include <cstddef>
#include <cstdint>

namespace httpsys::encoders {

struct ZstdContext;

// Pointers to the functions, under their names. nullptr = the program lacks the function.
struct EncoderApi {
  // Compresses `bytes` at once. *to_bytes is the capacity of `to`, and becomes the size of the
  // result. Returns 0 if the capacity is too small.
  int (*BrotliEncoderCompress)(int quality, int window_bits, int mode, size_t bytes,
                               const uint8_t* from, size_t* to_bytes, uint8_t* to) = nullptr;

  ZstdContext* (*ZSTD_createCCtx)() = nullptr;
  size_t (*ZSTD_freeCCtx)(ZstdContext*) = nullptr;
  size_t (*ZSTD_CCtx_setParameter)(ZstdContext*, int parameter, int value) = nullptr;
  // Returns the size of the result, or an error code for which ZSTD_isError() is not 0.
  size_t (*ZSTD_compress2)(ZstdContext*, void* to, size_t to_bytes, const void* from,
                           size_t bytes) = nullptr;
  unsigned (*ZSTD_isError)(size_t) = nullptr;

  EncoderApi();

  bool has_brotli() const { return BrotliEncoderCompress != nullptr; }
  bool has_zstd() const {
    return ZSTD_createCCtx != nullptr && ZSTD_freeCCtx != nullptr &&
           ZSTD_CCtx_setParameter != nullptr && ZSTD_compress2 != nullptr &&
           ZSTD_isError != nullptr;
  }

  // Returns the functions of this process. Thread: any.
  static const EncoderApi& Get();
};

}  // namespace httpsys::encoders
