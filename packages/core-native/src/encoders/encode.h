#pragma once
// Compresses texts by the content codings of HTTP (RFC 9110, 8.4.1; RFC 7932; RFC 8878).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "semantics/content_coding.h"

namespace httpsys::encoders {

struct ZstdContext;

// Functions of the Brotli and Zstandard encoders that node exports, found by name: so the addon
// builds without their headers, and loads where they are missing (Node 20 has no Zstandard). zlib
// needs no search, because its header comes with node.
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

// Compression levels. Each takes about 1 ms for 100 KB, and saves nearly as many bytes as levels
// that take ten times as long.
inline constexpr int kBrotliQuality = 5;
inline constexpr int kZstdLevel = 3;
inline constexpr int kGzipLevel = 6;

// Returns the codings whose encoders the running program has, without identity. Thread: any.
[[nodiscard]] semantics::CodingSet AvailableCodings();

// Returns the text in this coding; empty if the result would exceed `bytes_max`, the program lacks
// the encoder, or memory is short. Takes milliseconds: not for lanes. Thread: any.
[[nodiscard]] std::string Encode(semantics::ContentCoding coding, std::string_view text,
                                 size_t bytes_max);

}  // namespace httpsys::encoders
