// The ids of memory that JavaScript lends, when they begin anew.

#include <gtest/gtest.h>

#include <cstdint>

#include "base/block_store.h"

namespace httpsys {
namespace {

TEST(LentMemory, NoBlockGetsTheIdThatMeansNone) {
  const uint8_t bytes[] = {1};
  LentMemory memory;
  memory.set_next_id(LentMemory::kNoBlock - 1);
  EXPECT_EQ(memory.Lend(bytes, 1), LentMemory::kNoBlock - 1);
  EXPECT_EQ(memory.Lend(bytes, 1), 0u);
}

TEST(LentMemory, ABlockKeepsItsIdWhenTheIdsBeginAnew) {
  const uint8_t bytes[] = {1, 2, 3, 4};
  LentMemory memory;
  EXPECT_EQ(memory.Lend(bytes, 1), 0u);
  EXPECT_EQ(memory.Lend(bytes, 2), 1u);
  memory.Return(0);
  memory.set_next_id(UINT32_MAX);
  EXPECT_EQ(memory.Lend(bytes, 3), 0u);
  EXPECT_EQ(memory.Lend(bytes, 4), 2u);
  LentMemory::View view;
  ASSERT_TRUE(memory.Find(1, &view));
  EXPECT_EQ(view.bytes, 2u);
}

}  // namespace
}  // namespace httpsys
