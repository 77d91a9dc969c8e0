#include "encoders/encoder_api.h"

#include <dlfcn.h>

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

}  // namespace httpsys::encoders
