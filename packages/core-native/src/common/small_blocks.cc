#include "common/small_blocks.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "common/limits.h"

namespace httpsys {
namespace {

constexpr size_t kStep = 16;  // Between two sizes, and what a block is aligned to.

// AddressSanitizer is to see each of them end.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeeps = false;
#elif defined(__has_feature)
constexpr bool kKeeps = !__has_feature(address_sanitizer);
#else
constexpr bool kKeeps = true;
#endif

// Those of a size that nobody has, the last one freed first: it is most likely cached.
struct Kept {
  struct Block {
    Block* next;
  };
  Block* first = nullptr;
  size_t bytes = 0;
};

struct KeptOfThread {
  std::array<Kept, SmallBlocks::kBytesMax / kStep> sizes;

  ~KeptOfThread() {
    for (Kept& kept : sizes) {
      while (kept.first != nullptr) std::free(std::exchange(kept.first, kept.first->next));
      // What ends later on this thread is not kept.
      kept.bytes = limits::kSmallBlocksKeptBytes;
    }
  }
};

thread_local KeptOfThread kept_of_thread;

size_t RoundedUp(size_t bytes) { return (bytes + kStep - 1) & ~(kStep - 1); }

}  // namespace

void* SmallBlocks::Allocate(size_t bytes) {
  if (!kKeeps || bytes > kBytesMax || bytes == 0) return std::malloc(bytes);
  const size_t rounded = RoundedUp(bytes);
  Kept& kept = kept_of_thread.sizes[rounded / kStep - 1];
  if (kept.first == nullptr) return std::malloc(rounded);
  kept.bytes -= rounded;
  return std::exchange(kept.first, kept.first->next);
}

void SmallBlocks::Free(void* block, size_t bytes) {
  if (!kKeeps || bytes > kBytesMax || bytes == 0 || block == nullptr) return std::free(block);
  const size_t rounded = RoundedUp(bytes);
  Kept& kept = kept_of_thread.sizes[rounded / kStep - 1];
  if (kept.bytes + rounded > limits::kSmallBlocksKeptBytes) return std::free(block);
  kept.bytes += rounded;
  auto* freed = static_cast<Kept::Block*>(block);
  freed->next = kept.first;
  kept.first = freed;
}

}  // namespace httpsys
