#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace httpsys {

// Returns a numeric argument, or 0 if it is no number.
inline uint32_t Number(const Napi::CallbackInfo& info, size_t index) {
  return info[index].IsNumber() ? info[index].As<Napi::Number>().Uint32Value() : 0;
}

// Returns the bytes of an array, in V8's memory.
inline std::span<uint8_t> MemoryOf(Napi::Uint8Array array) {
  return {array.Data(), array.ByteLength()};
}

}  // namespace httpsys
