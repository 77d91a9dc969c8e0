// How long the pieces of a pass keep the bytes that they are about.

#include "engine/connection/pass_pieces.h"

#include <gtest/gtest.h>

#include <memory>
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
