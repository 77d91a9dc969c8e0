#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "base/block_store.h"
#include "base/limits.h"

namespace httpsys {
namespace {

constexpr size_t kMiB = 1024 * 1024;

Block NewBlock(size_t capacity) {
  Block block;
  block.memory.reset(static_cast<uint8_t*>(std::malloc(capacity)));
  block.capacity = capacity;
  return block;
}

// One that is wanted: before somebody has asked, it takes nothing.
class BlockPoolTest : public testing::Test {
 protected:
  BlockPoolTest() { EXPECT_EQ(pool_.Take(kMiB).memory, nullptr); }

  // Returns where the block lies.
  const uint8_t* Put(size_t capacity) {
    Block block = NewBlock(capacity);
    const uint8_t* memory = block.memory.get();
    pool_.Put(std::move(block));
    return memory;
  }

  // How many blocks of this size it has; they are gone then.
  size_t Count(size_t bytes) {
    size_t count = 0;
    while (pool_.Take(bytes).memory != nullptr) ++count;
    return count;
  }

  BlockPool pool_;
};

TEST_F(BlockPoolTest, TheBlockThatCameLastGoesFirst) {
  const uint8_t* first = Put(kMiB);
  const uint8_t* last = Put(kMiB);
  const Block block = pool_.Take(kMiB);
  EXPECT_EQ(block.memory.get(), last);
  EXPECT_EQ(block.capacity, kMiB);
  EXPECT_EQ(pool_.Take(kMiB).memory.get(), first);
  EXPECT_EQ(pool_.Take(kMiB).memory, nullptr);
}

TEST_F(BlockPoolTest, ABlockIsAtMostAThirdLongerThanWhatIsAskedFor) {
  EXPECT_TRUE(BlockPool::Fits(300, 400));
  EXPECT_FALSE(BlockPool::Fits(300, 401));
  EXPECT_FALSE(BlockPool::Fits(300, 299));
  Put(kMiB);
  EXPECT_EQ(pool_.Take(kMiB + 1).memory, nullptr);
  EXPECT_EQ(pool_.Take(kMiB / 2).memory, nullptr);
  EXPECT_NE(pool_.Take(kMiB - 1000).memory, nullptr);
}

TEST_F(BlockPoolTest, BlocksOfAnotherSizeAreLeftAlone) {
  const uint8_t* small = Put(kMiB / 4);
  const uint8_t* large = Put(kMiB);
  EXPECT_EQ(pool_.Take(kMiB / 4).memory.get(), small);
  EXPECT_EQ(pool_.Take(kMiB).memory.get(), large);
}

TEST_F(BlockPoolTest, WhatItHoldsIsBoundedAndTheOldestGo) {
  const size_t most = limits::kPoolBytesMax / kMiB;
  Put(kMiB / 4);
  for (size_t i = 0; i < most + 3; ++i) Put(kMiB);
  EXPECT_EQ(Count(kMiB / 4), 0u);
  EXPECT_EQ(Count(kMiB), most);
  Put(limits::kPoolBytesMax + 1);
  EXPECT_EQ(Count(limits::kPoolBytesMax), 0u);
  Put(limits::kPooledBlockBytesMin - 1);
  EXPECT_EQ(Count(limits::kPooledBlockBytesMin - 1), 0u);
}

TEST_F(BlockPoolTest, TrimFreesWhatWasNotNeededSinceTheLastTime) {
  for (int i = 0; i < 4; ++i) Put(kMiB);
  EXPECT_TRUE(pool_.Trim());
  Block one = pool_.Take(kMiB);
  Block two = pool_.Take(kMiB);
  pool_.Put(std::move(one));
  pool_.Put(std::move(two));
  EXPECT_TRUE(pool_.Trim());
  EXPECT_EQ(Count(kMiB), 2u);
}

TEST_F(BlockPoolTest, WhenNobodyAsksAnyMoreEverythingIsFreedAndNothingTaken) {
  Put(kMiB);
  EXPECT_TRUE(pool_.Trim());
  EXPECT_FALSE(pool_.Trim());
  EXPECT_EQ(Count(kMiB), 0u);
  EXPECT_TRUE(pool_.Trim()) << "Count() has asked";
  EXPECT_FALSE(pool_.Trim());
  Put(kMiB);
  EXPECT_EQ(Count(kMiB), 0u);
}

}  // namespace
}  // namespace httpsys
