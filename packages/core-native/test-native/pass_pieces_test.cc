// How long the pieces of a pass keep the bytes that they are about.

#include "engine/connection/pass_pieces.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace httpsys::engine {
namespace {

class PassPiecesTest : public testing::Test {
 protected:
  // A piece behind `last` whose bytes `owner` keeps.
  uint32_t Add(uint32_t last, std::shared_ptr<const void> owner) {
    const uint32_t piece = pieces_.Add(last, 1);
    pieces_.at(piece).data = reinterpret_cast<const uint8_t*>("x");
    pieces_.SetOwner(std::move(owner));
    return piece;
  }

  PassPieces pieces_;
};

TEST_F(PassPiecesTest, ReleasedPiecesLeaveNothingBehind) {
  auto owner = std::make_shared<int>();
  const std::weak_ptr<int> rest = owner;
  const uint32_t head = pieces_.Add(0, 1);
  Add(head, std::move(owner));
  pieces_.Release(head);
  EXPECT_TRUE(rest.expired());
  EXPECT_EQ(pieces_.count(), 0u);
}

TEST_F(PassPiecesTest, AnOwnerStaysWhileAPieceOfAnotherConnectionNeedsIt) {
  auto owner = std::make_shared<int>();
  const std::weak_ptr<int> rest = owner;
  const uint32_t one = Add(0, owner);
  const uint32_t two = Add(0, std::move(owner));
  pieces_.Release(one);
  EXPECT_FALSE(rest.expired());
  EXPECT_EQ(pieces_.BytesFrom(two, 0), 1u);
  pieces_.Release(two);
  EXPECT_TRUE(rest.expired());
  EXPECT_EQ(pieces_.count(), 0u);
}

// Keeps a copy of what is lent.
struct CopyingLender final : Lender {
  Kept Keep(std::string_view bytes) override {
    ++copies;
    auto copy = std::make_shared<const std::string>(bytes);
    return {copy, *copy};
  }
  int copies = 0;
};

TEST_F(PassPiecesTest, LentBytesAreKeptByTheirLenderAsFarAsTheyAreNotSent) {
  CopyingLender lender;
  std::string lent = "lent bytes";
  const uint32_t piece = pieces_.Add(0, lent.size());
  pieces_.at(piece).data = reinterpret_cast<const uint8_t*>(lent.data());
  pieces_.SetLender(&lender);
  EXPECT_EQ(lender.copies, 0);
  OutputQueue queue;
  pieces_.MoveTo(&queue, piece, 5);
  pieces_.Release(piece);
  lent.assign("overwritten");
  EXPECT_EQ(lender.copies, 1);
  iovec rest;
  ASSERT_EQ(queue.Peek(&rest, 1), 1);
  EXPECT_EQ(std::string_view(static_cast<char*>(rest.iov_base), rest.iov_len), "bytes");
  EXPECT_EQ(pieces_.count(), 0u);
}

TEST_F(PassPiecesTest, BytesAreFreedBehindAPieceThatStays) {
  auto first = std::make_shared<int>();
  auto second = std::make_shared<int>();
  const std::weak_ptr<int> stays = first;
  const std::weak_ptr<int> goes = second;
  const uint32_t one = Add(0, std::move(first));
  const uint32_t two = Add(0, std::move(second));
  pieces_.Release(two);
  EXPECT_FALSE(stays.expired());
  EXPECT_TRUE(goes.expired());
  EXPECT_EQ(pieces_.count(), 1u);
  pieces_.Release(one);
  EXPECT_TRUE(stays.expired());
  EXPECT_EQ(pieces_.count(), 0u);
}

}  // namespace
}  // namespace httpsys::engine
