#include "engine/connection/output_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace httpsys::engine {
namespace {

std::string Front(const OutputQueue& queue) {
  iovec vectors[8];
  const int count = queue.Peek(vectors, 8);
  std::string result;
  for (int i = 0; i < count; ++i) {
    result.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
  }
  return result;
}

TEST(OutputQueueTest, CopiesAndBlocksLeaveInOrderByteByByte) {
  OutputQueue queue;
  const std::string block = "BLOCK";
  queue.Append("ab");
  queue.Append("cd");
  queue.AppendBlock(7, block);
  queue.Append("ef");
  const std::string all = "abcdBLOCKef";
  std::vector<uint32_t> done;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(Front(queue), all.substr(i));
    EXPECT_EQ(done.size(), i >= 9 ? 1u : 0u);
    queue.Remove(1, &done);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(done, std::vector<uint32_t>{7});
}

TEST(OutputQueueTest, MarksAreGoneWithTheBytesBeforeThem) {
  OutputQueue queue;
  queue.Append("abc");
  queue.Mark();
  queue.Append("def");
  queue.Mark();
  queue.Mark();
  std::vector<uint32_t> done;
  queue.Remove(2, &done);
  EXPECT_EQ(queue.marks(), 3u);
  queue.Remove(1, &done);
  EXPECT_EQ(queue.marks(), 2u);
  queue.Append("ghi");
  queue.Remove(3, &done);
  EXPECT_EQ(queue.marks(), 0u);
  queue.Mark();
  EXPECT_EQ(queue.marks(), 1u);
}

TEST(OutputQueueTest, BlocksThatNeverLeftCanBeNamed) {
  OutputQueue queue;
  const std::string block = "BLOCK";
  queue.AppendBlock(1, block);
  queue.AppendBlock(2, block);
  std::vector<uint32_t> done;
  queue.Remove(6, &done);
  std::vector<uint32_t> left;
  queue.CollectBlocks(&left);
  EXPECT_EQ(done, std::vector<uint32_t>{1});
  EXPECT_EQ(left, std::vector<uint32_t>{2});
}

TEST(OutputQueueTest, ManyPiecesLeaveInOrderWhileMoreCome) {
  OutputQueue queue;
  std::vector<uint32_t> done;
  std::vector<uint32_t> expected;
  uint32_t next = 1;
  const std::string block = "BLOCK";
  for (size_t round = 0; round < 100; ++round) {
    // Three come for two that leave.
    for (int i = 0; i < 3; ++i) queue.AppendBlock(next++, block);
    queue.Remove(2 * block.size(), &done);
    while (expected.size() < 2 * (round + 1)) expected.push_back(expected.size() + 1);
    ASSERT_EQ(done, expected);
    ASSERT_EQ(queue.bytes(), (round + 1) * block.size());
  }
  std::vector<uint32_t> left;
  queue.CollectBlocks(&left);
  ASSERT_EQ(left.size(), 100u);
  EXPECT_EQ(left.front(), 201u);
  EXPECT_EQ(left.back(), 300u);
}

TEST(OutputQueueTest, WhatAPieceHasKeptIsFreedWhenItHasLeft) {
  OutputQueue queue;
  std::vector<uint32_t> done;
  std::vector<std::weak_ptr<const void>> owners;
  for (int i = 0; i < 4; ++i) {
    auto owner = std::make_shared<const std::string>("shared");
    owners.push_back(owner);
    queue.AppendShared(owner, *owner);
  }
  for (size_t i = 0; i < owners.size(); ++i) {
    EXPECT_FALSE(owners[i].expired());
    queue.Remove(6, &done);
    EXPECT_TRUE(owners[i].expired());
  }
}

TEST(OutputQueueTest, RoomIsMadeOnceForWhatIsKnownToFollow) {
  OutputQueue queue;
  const std::string piece(1000, 'x');
  const auto address = [&] {
    iovec first;
    EXPECT_EQ(queue.Peek(&first, 1), 1);
    return first.iov_base;
  };
  queue.Append(piece, 9 * piece.size());
  const void* before = address();
  for (size_t left = 9; left-- > 0;) queue.Append(piece, left * piece.size());
  EXPECT_EQ(address(), before);
  EXPECT_EQ(queue.bytes(), 10 * piece.size());
}

}  // namespace
}  // namespace httpsys::engine
