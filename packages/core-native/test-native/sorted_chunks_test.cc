// Sorted lists whose copies share what they do not change.

#include "base/sorted_chunks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace httpsys {
namespace {

struct Item {
  std::string key;
  int value = 0;
};

using List = SortedChunks<Item, &Item::key>;

void Set(List* list, const std::string& key, int value) {
  const List::Position at = list->LowerBound(key);
  const Item* there = list->At(at);
  if (there != nullptr && there->key == key) {
    list->Edit(at).value = value;
  } else {
    EXPECT_EQ(list->Insert(at, {key, value}).key, key);
  }
}

std::vector<std::pair<std::string, int>> ItemsOf(const List& list) {
  std::vector<std::pair<std::string, int>> items;
  list.ForEach([&](const Item& item) { items.emplace_back(item.key, item.value); });
  return items;
}

std::string KeyOf(size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(6 - digits.size(), '0') + digits;
}

TEST(SortedChunks, FindsWhatIsThere) {
  List list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.At(list.begin()), nullptr);
  EXPECT_EQ(list.Find(std::string("a")), nullptr);
  Set(&list, "b", 1);
  EXPECT_TRUE(list.has_one());
  Set(&list, "a", 2);
  EXPECT_FALSE(list.has_one());
  ASSERT_NE(list.Find(std::string("a")), nullptr);
  EXPECT_EQ(list.Find(std::string("a"))->value, 2);
  EXPECT_EQ(list.Find(std::string("ab")), nullptr);
  EXPECT_EQ(list.At(list.LowerBound(std::string("ab")))->key, "b");
  EXPECT_EQ(list.At(list.LowerBound(std::string("c"))), nullptr);
}

TEST(SortedChunks, AListOfFewItemsHasThemInOnePiece) {
  List list;
  EXPECT_TRUE(list.few().empty());
  for (size_t i = 0; i < List::kFewMax; ++i) {
    Set(&list, KeyOf(9 - i), 0);
    ASSERT_EQ(list.few().size(), i + 1);
    EXPECT_EQ(list.few().front().key, KeyOf(9 - i));
    EXPECT_EQ(list.few().back().key, KeyOf(9));
  }
  Set(&list, KeyOf(10), 0);
  EXPECT_TRUE(list.few().empty());
}

// Each copy stays as it was, whatever becomes of the others.
TEST(SortedChunks, CopiesAreIndependent) {
  std::mt19937 random(20261127);
  List list;
  std::map<std::string, int> expected;
  std::vector<std::pair<List, std::map<std::string, int>>> kept;
  for (int step = 0; step < 40'000; ++step) {
    // The list grows, shrinks, and grows again.
    const bool is_growing = step / 8'000 % 2 == 0;
    const std::string key = KeyOf(random() % 3'000);
    if (random() % 10 < (is_growing ? 8U : 2U)) {
      Set(&list, key, step);
      expected[key] = step;
    } else if (expected.erase(key) != 0) {
      list.Erase(list.LowerBound(key));
    }
    if (step % 1'000 == 0) kept.emplace_back(list, expected);
    if (step % 3'000 == 0) list = List(kept[random() % kept.size()].first);
    if (step % 3'000 == 0) {
      expected.clear();
      for (const auto& [there, value] : ItemsOf(list)) expected[there] = value;
    }
  }
  for (const auto& [copy, items] : kept) {
    const auto found = ItemsOf(copy);
    EXPECT_EQ(found, decltype(found)(items.begin(), items.end()));
  }
}

TEST(SortedChunks, LowerBoundGoesOnFromAPosition) {
  List list;
  for (size_t i = 0; i < 1'000; ++i) Set(&list, KeyOf(i * 2), 0);
  List::Position at = list.begin();
  for (size_t i = 0; i < 1'999; ++i) {
    at = list.LowerBound(KeyOf(i), at);
    ASSERT_NE(list.At(at), nullptr);
    EXPECT_EQ(list.At(at)->key, KeyOf((i + 1) / 2 * 2));
  }
}

TEST(SortedChunks, RemovalsLeaveNoCrowdOfSmallChunks) {
  List list;
  for (size_t i = 0; i < 16'000; ++i) Set(&list, KeyOf(i), 0);
  EXPECT_LE(list.chunk_count(), 16'000 / List::kChunkMax + 1) << "filled in order";
  for (size_t i = 0; i < 16'000; ++i) {
    if (i % 100 != 0) list.Erase(list.LowerBound(KeyOf(i)));
  }
  EXPECT_EQ(ItemsOf(list).size(), 160u);
  EXPECT_LE(list.chunk_count(), 160 / (List::kChunkMax / 4) + 1);
}

// Counts how often items are copied.
struct Counted {
  Counted(size_t key, size_t* copies) : key(key), copies(copies) {}
  Counted(const Counted& other) : key(other.key), copies(other.copies) { ++*copies; }
  Counted& operator=(const Counted& other) {
    key = other.key;
    copies = other.copies;
    ++*copies;
    return *this;
  }
  Counted(Counted&&) noexcept = default;
  Counted& operator=(Counted&&) noexcept = default;
  ~Counted() = default;

  size_t key;
  size_t* copies;
};

TEST(SortedChunks, AChangeOfACopyCopiesTwoChunksAtMost) {
  for (const size_t count : {100U, 16'000U}) {
    size_t copies = 0;
    SortedChunks<Counted, &Counted::key> list;
    for (size_t i = 0; i < count; ++i) list.Insert(list.LowerBound(i * 2), {i * 2, &copies});
    for (size_t i = 0; i < count; i += 17) {
      copies = 0;
      SortedChunks<Counted, &Counted::key> copy = list;
      copy.Insert(copy.LowerBound(i * 2 + 1), {i * 2 + 1, &copies});
      copy.Erase(copy.LowerBound(i * 2 + 1));
      EXPECT_LE(copies, 2 * List::kChunkMax) << count << " items";
      EXPECT_GT(copies, 0u);
    }
  }
}

}  // namespace
}  // namespace httpsys
