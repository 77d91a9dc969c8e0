#include "base/small_blocks.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/limits.h"
#include "base/process.h"

namespace httpsys {
namespace {

// Do not keep blocks with AddressSanitizer, which must see the end of each block.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeeps = false;
#elif defined(__has_feature)
constexpr bool kKeeps = !__has_feature(address_sanitizer);
#else
constexpr bool kKeeps = true;
#endif

// Difference between two sizes; malloc(3) rounds up further.
constexpr size_t kStep = sizeof(void*);

struct FreeBlock {
  FreeBlock* next;
};

// Free blocks of this thread, by size; first the last freed one, most likely in a CPU cache.
struct Kept {
  std::array<FreeBlock*, SmallBlocks::kBytesMax / kStep> sizes{};
  size_t bytes = 0;
  bool is_over = false;  // True once the thread ends: blocks freed later are not kept.
};

// Frees the kept blocks in its destructor, when the thread ends. Kept itself has no destructor, so
// that it stays usable until the very end of the thread.
struct AtThreadEnd {
  bool is_used = false;

  ~AtThreadEnd() {
    Kept& kept = OfThread<Kept>();
    kept.is_over = true;
    kept.bytes = 0;
    for (FreeBlock*& first : kept.sizes) {
      while (first != nullptr) std::free(std::exchange(first, first->next));
    }
  }
};

size_t RoundedUp(size_t bytes) { return (bytes + kStep - 1) & ~(kStep - 1); }

bool MayBeKept(size_t bytes) { return kKeeps && bytes != 0 && bytes <= SmallBlocks::kBytesMax; }

}  // namespace

void* SmallBlocks::Allocate(size_t bytes) {
  if (!MayBeKept(bytes)) return std::malloc(bytes);
  const size_t rounded = RoundedUp(bytes);
  Kept& kept = OfThread<Kept>();
  FreeBlock*& first = kept.sizes[rounded / kStep - 1];
  if (first == nullptr) return std::malloc(rounded);
  kept.bytes -= rounded;
  return std::exchange(first, first->next);
}

void SmallBlocks::Free(void* block, size_t bytes) {
  const size_t rounded = RoundedUp(bytes);
  Kept& kept = OfThread<Kept>();
  if (block == nullptr || !MayBeKept(bytes) || kept.is_over ||
      kept.bytes + rounded > limits::kSmallBlocksKeptBytes) {
    return std::free(block);
  }
  // Use AtThreadEnd once: that registers its destructor for the end of this thread.
  if (kept.bytes == 0) OfThread<AtThreadEnd>().is_used = true;
  kept.bytes += rounded;
  auto* freed = static_cast<FreeBlock*>(block);
  freed->next = std::exchange(kept.sizes[rounded / kStep - 1], freed);
}

size_t SmallBlocks::KeptBytes() { return OfThread<Kept>().bytes; }

}  // namespace httpsys
