#include "records/intern_table.h"

#include <gtest/gtest.h>

#include <string>

namespace httpsys {
namespace {

TEST(InternTableTest, ALineGetsItsIdWhenItIsSeenForTheSecondTime) {
  InternTable table(1);
  table.BeginRecord();
  EXPECT_FALSE(table.FindLine("Host", "a").has_id);
  const InternTable::Result second = table.FindLine("Host", "a");
  EXPECT_TRUE(second.has_id);
  EXPECT_TRUE(second.is_new);
  const InternTable::Result third = table.FindLine("Host", "a");
  EXPECT_TRUE(third.has_id);
  EXPECT_FALSE(third.is_new);
  EXPECT_EQ(third.id, second.id);
}

TEST(InternTableTest, NameAndValueAreToldApart) {
  InternTable table(1);
  for (int i = 0; i < 2; ++i) table.FindLine("ab", "c");
  const auto one = table.FindLine("ab", "c");
  for (int i = 0; i < 2; ++i) table.FindLine("a", "bc");
  const auto other = table.FindLine("a", "bc");
  ASSERT_TRUE(one.has_id && other.has_id);
  EXPECT_NE(one.id, other.id);
}

TEST(InternTableTest, ALineANameAndATargetWithTheSameTextHaveDifferentIds) {
  InternTable table(1);
  for (int i = 0; i < 2; ++i) {
    table.FindName("x");
    table.FindTarget("x");
    table.FindLine("x", "");
  }
  const auto name = table.FindName("x");
  const auto target = table.FindTarget("x");
  const auto line = table.FindLine("x", "");
  EXPECT_NE(name.id, target.id);
  EXPECT_NE(name.id, line.id);
  EXPECT_NE(target.id, line.id);
}

TEST(InternTableTest, SecretsLongLinesAndQueriesNeverGetAnId) {
  InternTable table(1);
  const std::string long_value(300, 'v');
  for (int i = 0; i < 5; ++i) {
    for (const char* name : {"Cookie", "set-cookie", "AUTHORIZATION", "Proxy-Authorization"}) {
      EXPECT_FALSE(table.FindLine(name, "v").has_id);
    }
    EXPECT_FALSE(table.FindLine("X", long_value).has_id);
    EXPECT_FALSE(table.FindTarget("/a?b").has_id);
    EXPECT_FALSE(table.FindTarget(long_value).has_id);
  }
  table.FindLine("Cookies", "v");
  EXPECT_TRUE(table.FindLine("Cookies", "v").has_id);
}

TEST(InternTableTest, AnIdUsedInARecordIsNotTakenAwayWithinIt) {
  InternTable table(1);
  table.BeginRecord();
  const auto Intern = [&](int n) {
    table.BeginPass();
    const std::string value = std::to_string(n);
    table.FindLine("X", value);
    return table.FindLine("X", value);
  };
  // More texts than the table holds; none of the ids given out in this record may come twice.
  std::vector<bool> used(limits::kInternSets * limits::kInternWays);
  uint32_t with_id = 0;
  int without_id = 0;
  for (int n = 0; n < 20'000; ++n) {
    const auto found = Intern(n);
    if (!found.has_id) {
      ++without_id;
      continue;
    }
    ASSERT_LT(found.id, used.size());
    EXPECT_FALSE(used[found.id]);
    // An index of an array without holes.
    EXPECT_EQ(found.id, with_id++);
    used[found.id] = true;
  }
  EXPECT_GT(without_id, 0);
  // In the next record they may be pushed out.
  table.BeginRecord();
  EXPECT_TRUE(Intern(100'000).has_id);
}

TEST(InternTableTest, NewIdsAreLimitedPerPass) {
  InternTable table(1);
  uint32_t made = 0;
  for (int n = 0; n < 1000; ++n) {
    table.FindLine("X", std::to_string(n));
    if (table.FindLine("X", std::to_string(n)).is_new) ++made;
  }
  EXPECT_EQ(made, limits::kInternDefinitionsPerPass);
}

}  // namespace
}  // namespace httpsys
