#include "http2/nghttp2_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "base/process.h"
#include "base/small_blocks.h"

namespace httpsys::http2 {
namespace {

template <typename Function>
bool Find(const char* name, Function* to) {
  *to = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *to != nullptr;
}

bool Load(NgApi* api) {
  bool is_whole = true;
#define HTTPSYS_FIND(name, ...) is_whole = Find("nghttp2_" #name, &api->name) && is_whole;
  HTTPSYS_NGHTTP2_FUNCTIONS(HTTPSYS_FIND)
#undef HTTPSYS_FIND
  return is_whole;
}

}  // namespace

const NgApi* NgApi::Get() {
  static const bool is_whole = Load(&OfProcess<NgApi>());
  return is_whole ? &OfProcess<NgApi>() : nullptr;
}

namespace {

// Precedes each block: when nghttp2 frees memory, it does not pass the size.
struct alignas(std::max_align_t) Header {
  size_t bytes;  // Size of the block, including this header.
};

Header* HeaderOf(void* block) { return static_cast<Header*>(block) - 1; }

void* Allocate(size_t bytes, void* /*user*/) {
  if (bytes > SIZE_MAX - sizeof(Header)) return nullptr;
  auto* header = static_cast<Header*>(SmallBlocks::Allocate(sizeof(Header) + bytes));
  if (header == nullptr) return nullptr;
  header->bytes = sizeof(Header) + bytes;
  return header + 1;
}

void Free(void* block, void* /*user*/) {
  if (block != nullptr) SmallBlocks::Free(HeaderOf(block), HeaderOf(block)->bytes);
}

void* AllocateZeroed(size_t count, size_t bytes, void* user) {
  if (bytes != 0 && count > SIZE_MAX / bytes) return nullptr;
  void* block = Allocate(count * bytes, user);
  if (block != nullptr) std::memset(block, 0, count * bytes);
  return block;
}

void* Reallocate(void* block, size_t bytes, void* user) {
  void* other = Allocate(bytes, user);
  if (block == nullptr || other == nullptr) return other;
  std::memcpy(other, block, std::min(bytes, HeaderOf(block)->bytes - sizeof(Header)));
  Free(block, user);
  return other;
}

}  // namespace

NgMemory SmallBlockMemory() { return {nullptr, Allocate, Free, AllocateZeroed, Reallocate}; }

}  // namespace httpsys::http2
