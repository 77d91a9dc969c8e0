#include "engine/connection/unread_requests.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace httpsys::engine {
namespace {

using Fate = UnreadRequests::Fate;

class UnreadRequestsTest : public testing::Test {
 protected:
  // Adds a request that ends at `end`, which is movable if it has bytes.
  void Add(uint64_t end, std::string_view bytes = {}) {
    UnreadRequests::Item item;
    item.end = end;
    item.counter = &queued_;
    item.is_movable = !bytes.empty();
    if (bytes.empty()) {
      unread_.Add(item);
    } else {
      unread_.AddMovable(item, bytes);
    }
  }

  std::vector<uint64_t> Asked() {
    std::vector<uint64_t> ends;
    unread_.TakeMovable([&](const UnreadRequests::Item& item, std::string_view) {
      ends.push_back(item.end);
      return Fate::kStays;
    });
    return ends;
  }

  std::vector<std::string> Movable() {
    std::vector<std::string> movable;
    unread_.TakeMovable([&](const UnreadRequests::Item& item, std::string_view bytes) {
      if (item.is_movable) movable.emplace_back(bytes);
      return Fate::kStays;
    });
    return movable;
  }

  UnreadRequests::Counter queued_{0};
  UnreadRequests unread_;
};

TEST_F(UnreadRequestsTest, TheyAreAskedAboutFromTheLastToTheFirst) {
  Add(1);
  Add(2, "b");
  Add(3);
  Add(4, "d");
  // Nothing before the first movable one matters.
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{4, 3, 2, 1}));
  unread_.Settle(2);
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{4, 3}));
  EXPECT_EQ(queued_, 2u);
}

TEST_F(UnreadRequestsTest, OneThatIsTakenIsNotCountedOrTakenAgain) {
  Add(1, "a");
  Add(2, "b");
  Add(3, "c");
  int asked = 0;
  unread_.TakeMovable([&](const UnreadRequests::Item& item, std::string_view) {
    ++asked;
    return item.end == 3 ? Fate::kTaken : Fate::kStop;
  });
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(queued_, 2u);
  EXPECT_EQ(Movable(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(unread_.All().size(), 2u);
  unread_.Settle(3);
  EXPECT_EQ(queued_, 0u);
  EXPECT_FALSE(unread_.has_movable());
}

TEST_F(UnreadRequestsTest, ItsMemoryServesAgainWithoutMixingRequests) {
  uint64_t end = 0;
  for (int round = 0; round < 50; ++round) {
    const std::string text(static_cast<size_t>(round) * 100 + 1,
                           static_cast<char>('a' + round % 26));
    const int count = round * 7 % 300 + 1;
    for (int i = 0; i < count; ++i) Add(++end, i % 3 == 0 ? text : "");
    const std::vector<std::string> movable = Movable();
    ASSERT_EQ(movable.size(), static_cast<size_t>(count + 2) / 3);
    for (const std::string& bytes : movable) ASSERT_EQ(bytes, text);
    unread_.Settle(end);
    ASSERT_FALSE(unread_.has_movable());
  }
  EXPECT_EQ(queued_, 0u);
}

TEST_F(UnreadRequestsTest, ADeadlineEndsWithTheTaking) {
  UnreadRequests::Item item;
  item.end = 1;
  item.counter = &queued_;
  item.deadline_ms = 100;
  item.is_movable = true;
  unread_.AddMovable(item, "a");
  unread_.TakeMovable([](const UnreadRequests::Item&, std::string_view) { return Fate::kTaken; });
  EXPECT_TRUE(unread_.TakeOverdue(200).empty());
}

}  // namespace
}  // namespace httpsys::engine
