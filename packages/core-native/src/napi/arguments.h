#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>

namespace httpsys {

// An argument that is a number, otherwise 0.
inline uint32_t Number(const Napi::CallbackInfo& info, size_t index) {
  return info[index].IsNumber() ? info[index].As<Napi::Number>().Uint32Value() : 0;
}

}  // namespace httpsys
