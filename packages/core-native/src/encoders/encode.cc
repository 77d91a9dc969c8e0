#include "encoders/encode.h"

#include <dlfcn.h>
#include <zlib.h>

#include "base/process.h"

namespace httpsys::encoders {
namespace {

template <typename Function>
void FindEncoder(const char* name, Function* to) {
  *to = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

EncoderApi::EncoderApi() {
  FindEncoder("BrotliEncoderCompress", &BrotliEncoderCompress);
  FindEncoder("ZSTD_createCCtx", &ZSTD_createCCtx);
  FindEncoder("ZSTD_freeCCtx", &ZSTD_freeCCtx);
  FindEncoder("ZSTD_CCtx_setParameter", &ZSTD_CCtx_setParameter);
  FindEncoder("ZSTD_compress2", &ZSTD_compress2);
  FindEncoder("ZSTD_isError", &ZSTD_isError);
}

const EncoderApi& EncoderApi::Get() { return OfProcess<EncoderApi>(); }

namespace {

using semantics::CodingSet;
using semantics::ContentCoding;

// A window of 1 MiB contains the longest entry of a cache.
constexpr int kBrotliWindowBits = 20;
constexpr int kBrotliGenericMode = 0;
// Value of ZSTD_c_compressionLevel.
constexpr int kZstdLevelParameter = 100;
// windowBits of zlib: the largest window (15), and the gzip format (+ 16).
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kGzipMemoryLevel = 8;

// EncodeBrotli(), EncodeZstd() and EncodeGzip() return the size of the result, or 0 on failure.

size_t EncodeBrotli(std::string_view text, std::string* to) {
  size_t bytes = to->size();
  const int is_done = EncoderApi::Get().BrotliEncoderCompress(
      kBrotliQuality, kBrotliWindowBits, kBrotliGenericMode, text.size(),
      reinterpret_cast<const uint8_t*>(text.data()), &bytes,
      reinterpret_cast<uint8_t*>(to->data()));
  return is_done != 0 ? bytes : 0;
}

size_t EncodeZstd(std::string_view text, std::string* to) {
  const EncoderApi& api = EncoderApi::Get();
  ZstdContext* const context = api.ZSTD_createCCtx();
  if (context == nullptr) return 0;
  (void)api.ZSTD_CCtx_setParameter(context, kZstdLevelParameter, kZstdLevel);
  const size_t bytes =
      api.ZSTD_compress2(context, to->data(), to->size(), text.data(), text.size());
  (void)api.ZSTD_freeCCtx(context);
  return api.ZSTD_isError(bytes) != 0 ? 0 : bytes;
}

size_t EncodeGzip(std::string_view text, std::string* to) {
  z_stream stream{};
  if (deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return 0;
  }
  // zlib does not write to its input, although the type is not const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(to->data());
  stream.avail_out = static_cast<uInt>(to->size());
  const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  const size_t bytes = to->size() - stream.avail_out;
  (void)deflateEnd(&stream);
  return is_done ? bytes : 0;
}

size_t EncodeBy(ContentCoding coding, std::string_view text, std::string* to) {
  switch (coding) {
    case ContentCoding::kBr:
      return EncodeBrotli(text, to);
    case ContentCoding::kZstd:
      return EncodeZstd(text, to);
    case ContentCoding::kGzip:
      return EncodeGzip(text, to);
    case ContentCoding::kIdentity:
      break;
  }
  return 0;
}

}  // namespace

CodingSet AvailableCodings() {
  CodingSet codings{ContentCoding::kGzip};
  if (EncoderApi::Get().has_brotli()) codings.Add(ContentCoding::kBr);
  if (EncoderApi::Get().has_zstd()) codings.Add(ContentCoding::kZstd);
  return codings;
}

std::string Encode(ContentCoding coding, std::string_view text, size_t bytes_max) {
  std::string result;
  if (bytes_max == 0 || text.size() > UINT32_MAX || bytes_max > UINT32_MAX ||
      !AvailableCodings().Has(coding)) {
    return result;
  }
  result.resize(bytes_max);
  result.resize(EncodeBy(coding, text, &result));
  return result;
}

}  // namespace httpsys::encoders
