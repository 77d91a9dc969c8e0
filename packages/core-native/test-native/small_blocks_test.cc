#include "base/small_blocks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "http2/nghttp2_api.h"

namespace httpsys {
namespace {

TEST(SmallBlocksTest, NoTwoAreTheSameAndAllAreAligned) {
  for (const size_t bytes :
       {size_t{1}, size_t{16}, size_t{17}, size_t{424}, size_t{1024}, size_t{1025}}) {
    std::set<void*> blocks;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 100; ++i) {
        void* block = SmallBlocks::Allocate(bytes);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignof(std::max_align_t), 0u);
        EXPECT_TRUE(blocks.insert(block).second);
        std::memset(block, 0xa5, bytes);
      }
      for (void* block : blocks) SmallBlocks::Free(block, bytes);
      blocks.clear();
    }
  }
}

TEST(SmallBlocksTest, MoreThanAreKeptAreFreed) {
  constexpr size_t kBytes = 1024;
  std::vector<void*> blocks(4 * limits::kSmallBlocksKeptBytes / kBytes);
  for (void*& block : blocks) block = SmallBlocks::Allocate(kBytes);
  for (void* block : blocks) SmallBlocks::Free(block, kBytes);
  EXPECT_LE(SmallBlocks::KeptBytes(), limits::kSmallBlocksKeptBytes);
  if (SmallBlocks::KeptBytes() != 0) {  // Not with AddressSanitizer.
    EXPECT_GT(SmallBlocks::KeptBytes(), limits::kSmallBlocksKeptBytes / 2);
  }
  for (void*& block : blocks) {
    block = SmallBlocks::Allocate(kBytes);
    std::memset(block, 1, kBytes);
  }
  for (void* block : blocks) SmallBlocks::Free(block, kBytes);
}

// ThreadSanitizer would see a block that two threads have.
TEST(SmallBlocksTest, ABlockMayEndOnAnotherThread) {
  struct Thing : FromSmallBlocks {
    char bytes[200] = {};
  };
  std::vector<std::unique_ptr<Thing>> things(50);
  std::thread([&] {
    for (auto& thing : things) thing = std::make_unique<Thing>();
  }).join();
  std::thread([&] { things.clear(); }).join();
  EXPECT_EQ(things.size(), 0u);
}

TEST(SmallBlocksTest, MemoryOfSessions) {
  const http2::NgMemory memory = http2::SmallBlockMemory();
  auto* block = static_cast<uint8_t*>(memory.allocate_zeroed(3, 7, memory.user));
  for (int i = 0; i < 21; ++i) ASSERT_EQ(block[i], 0);
  std::memset(block, 7, 21);
  // From one size to another, to malloc's, and back.
  for (const size_t bytes : {size_t{22}, size_t{500}, size_t{5000}, size_t{21}}) {
    block = static_cast<uint8_t*>(memory.reallocate(block, bytes, memory.user));
    for (int i = 0; i < 21; ++i) ASSERT_EQ(block[i], 7);
  }
  memory.free(block, memory.user);
  memory.free(nullptr, memory.user);
  EXPECT_EQ(memory.allocate(SIZE_MAX, memory.user), nullptr);
  EXPECT_EQ(memory.allocate_zeroed(SIZE_MAX / 2, 3, memory.user), nullptr);
  memory.free(memory.reallocate(nullptr, 8, memory.user), memory.user);
}

}  // namespace
}  // namespace httpsys
