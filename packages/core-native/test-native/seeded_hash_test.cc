#include "base/seeded_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace httpsys {
namespace {

TEST(SeededHashTest, TextsThatDifferInOneByteHaveDifferentHashes) {
  for (size_t size = 0; size <= 40; ++size) {
    std::string text(size, 'a');
    std::set<uint64_t> hashes{HashText(text, 1)};
    for (char& c : text) {
      c = 'b';
      hashes.insert(HashText(text, 1));
      c = 'a';
    }
    EXPECT_EQ(hashes.size(), size + 1) << size;
  }
}

TEST(SeededHashTest, TheSeedAndTheSizeCount) {
  EXPECT_NE(HashText("abc", 1), HashText("abc", 2));
  EXPECT_NE(HashText("", 1), HashText("", 2));
  EXPECT_NE(HashText(std::string_view("\0", 1), 1), HashText("", 1));
  EXPECT_NE(HashText("b", HashText("a", 1)), HashText("a", HashText("b", 1)));
  EXPECT_EQ(HashText("abc", 1), HashText(std::string("abc"), 1));
}

TEST(SeededHashTest, NothingBehindTheTextIsRead) {
  for (size_t size = 0; size <= 20; ++size) {
    const std::vector<char> text(size, 'x');
    EXPECT_EQ(HashText({text.data(), size}, 1), HashText(std::string(size, 'x'), 1));
  }
}

TEST(SeededHashTest, KeysSpreadOverTheBucketsOfATable) {
  constexpr size_t kBuckets = 1024;
  std::vector<int> counts(kBuckets);
  for (int i = 0; i < 64 * 1024; ++i) {
    ++counts[HashText("/articles/" + std::to_string(i) + "?page=1", 7) % kBuckets];
  }
  // 64 on average. 128 would be eight standard deviations away.
  for (const int count : counts) EXPECT_LT(count, 128);
}

}  // namespace
}  // namespace httpsys
