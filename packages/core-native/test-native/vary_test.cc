#include "cache/vary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/cache_messages.h"

namespace httpsys::cache {
namespace {

VaryNames Names(std::initializer_list<std::string_view> lines) {
  VaryNames names;
  for (const std::string_view line : lines) names.Add(line);
  return names;
}

std::string ValuesOf(const VaryNames& names, std::string_view request_lines) {
  const TestRequest request(request_lines);
  std::string key;
  names.AppendValues(request.head().lines, &key);
  return key;
}

TEST(VaryTest, NamesAreSortedInLowerCaseAndOnce) {
  EXPECT_EQ(Names({"Accept-Encoding"}).text(), "accept-encoding");
  EXPECT_EQ(Names({"b, A", "c,b,,", "aa"}).text(), "a,aa,b,c");
  EXPECT_EQ(Names({"c", "b", "a", "ab"}).text(), "a,ab,b,c");
  EXPECT_TRUE(Names({}).is_empty());
  EXPECT_TRUE(Names({" , "}).is_empty());
}

TEST(VaryTest, NamesAreFoundInWhicheverCase) {
  const VaryNames names = Names({"Accept-Encoding, b"});
  for (const char* name : {"accept-encoding", "ACCEPT-Encoding", "B"}) {
    EXPECT_TRUE(names.Contains(name)) << name;
  }
  for (const char* name : {"", "accept", "accept-encoding,b", "c"}) {
    EXPECT_FALSE(names.Contains(name)) << name;
  }
  EXPECT_FALSE(VaryNames().Contains("b"));
}

TEST(VaryTest, ResponsesThatCannotHaveVariantsAreTold) {
  EXPECT_TRUE(Names({"a", "b, *"}).is_star());
  EXPECT_FALSE(Names({"a*"}).is_star());
  EXPECT_TRUE(Names({"a b"}).is_broken());
  EXPECT_TRUE(Names({"\"a\""}).is_broken());
  for (const char* name : {"Cookie", "AUTHORIZATION", "accept, proxy-authorization"}) {
    EXPECT_TRUE(Names({name}).has_credentials()) << name;
  }
  EXPECT_FALSE(Names({"cookies"}).has_credentials());
  EXPECT_FALSE(Names({"*"}).is_empty());
}

TEST(VaryTest, NamesAreBounded) {
  VaryNames many;
  for (size_t i = 0; i < kVaryNamesMax; ++i) many.Add("n" + std::to_string(i));
  EXPECT_FALSE(many.is_broken());
  many.Add("n0");
  EXPECT_FALSE(many.is_broken());
  many.Add("one-more");
  EXPECT_TRUE(many.is_broken());
  EXPECT_FALSE(Names({std::string(kVaryBytesMax, 'a')}).is_broken());
  EXPECT_TRUE(Names({std::string(kVaryBytesMax + 1, 'a')}).is_broken());
  EXPECT_TRUE(Names({std::string(kVaryBytesMax - 1, 'a'), "b"}).is_broken());
  EXPECT_FALSE(Names({std::string(kVaryBytesMax - 2, 'a'), "b"}).is_broken());
  // A name that does not fit still says that the response is one user's.
  EXPECT_TRUE(Names({std::string(kVaryBytesMax, 'a'), "cookie"}).has_credentials());
}

TEST(VaryTest, LinesOfOneFieldAreTrimmedAndStaySeparate) {
  const VaryNames names = Names({"Accept, Foo"});
  EXPECT_EQ(ValuesOf(names, ""), "\n-\n-");
  EXPECT_EQ(ValuesOf(names, "Foo: 1|ACCEPT:  a "), "\n+a\n+1");
  EXPECT_EQ(ValuesOf(names, "Foo: 1|Foo:  2 "), "\n-\n+1\n,2");
  EXPECT_EQ(ValuesOf(names, "Foo: 1, 2"), "\n-\n+1, 2");
}

// Node reads the first line of User-Agent, of two lines as of one.
TEST(VaryTest, NoSecondLineMakesTheValueOfAnotherRequest) {
  const VaryNames names = Names({"User-Agent"});
  EXPECT_NE(ValuesOf(names, "User-Agent: (KHTML|User-Agent: like Gecko) Mobile"),
            ValuesOf(names, "User-Agent: (KHTML, like Gecko) Mobile"));
  EXPECT_NE(ValuesOf(names, "User-Agent: a|User-Agent: b"), ValuesOf(names, "User-Agent: a"));
}

TEST(VaryTest, ALineOfOneFieldIsNoneOfTheNext) {
  const VaryNames names = Names({"a, b"});
  EXPECT_NE(ValuesOf(names, "a: 1|a: +2|b: 3"), ValuesOf(names, "a: 1|b: 2|b: +3"));
  EXPECT_NE(ValuesOf(names, "a: 1|a: 2|b: 3"), ValuesOf(names, "a: 1|b: 2|b: 3"));
  EXPECT_NE(ValuesOf(names, "a: 1|a: -"), ValuesOf(names, "a: 1|b: -"));
}

TEST(VaryTest, CaseAndWhiteSpaceMakeNoDifferenceInListsOfTokens) {
  const VaryNames names = Names({"Accept-Language"});
  const std::string wanted = ValuesOf(names, "Accept-Language: en,de;q=0.5");
  EXPECT_EQ(wanted, "\n+en,de;q=0.5");
  EXPECT_EQ(ValuesOf(names, "Accept-Language:  EN ,\tDe ; q=0.5 "), wanted);
  EXPECT_EQ(ValuesOf(names, "Accept-Language: en|accept-language: de;q=0.5"), wanted);
  // No list of tokens: nothing is known of the space, so that it stays.
  EXPECT_EQ(ValuesOf(names, "Accept-Language: e  n, de"), "\n+e n,de");
  EXPECT_NE(ValuesOf(names, "Accept-Language: de;q=0.5,en"), wanted);
  EXPECT_NE(ValuesOf(names, "Accept-Language: ende;q=0.5"), wanted);
  EXPECT_EQ(ValuesOf(Names({"Foo"}), "Foo: A ,b"), "\n+A ,b");
}

TEST(VaryTest, AbsentAndEmptyAreDifferent) {
  const VaryNames names = Names({"a,b"});
  EXPECT_NE(ValuesOf(names, "a:"), ValuesOf(names, ""));
  EXPECT_NE(ValuesOf(names, "a: x|b: y"), ValuesOf(names, "a: xy"));
  EXPECT_NE(ValuesOf(names, "a: +"), ValuesOf(names, "b: +"));
}

TEST(VaryTest, OnlyItsOwnTextsAreRead) {
  VaryNames names;
  ASSERT_TRUE(names.Assign("a,aa,b"));
  EXPECT_EQ(names.text(), "a,aa,b");
  EXPECT_TRUE(names.Assign(""));
  for (const char* text : {"b,a", "A", "a,", ",a", "a,a", "*", "a b", " a", "a, b"}) {
    EXPECT_FALSE(names.Assign(text)) << text;
  }
}

TEST(VaryRecordTest, OfTooManyVariantsTheOldestLeaves) {
  VaryRecord record(Names({"a"}), 1);
  for (uint64_t i = 1; i <= kVariantsMax; ++i) EXPECT_EQ(record.Add(i), 0u);
  EXPECT_EQ(record.Add(1), 0u);
  EXPECT_EQ(record.variants().back(), 1u);
  EXPECT_EQ(record.Add(100), 2u);
  EXPECT_EQ(record.variants().size(), kVariantsMax);
  EXPECT_EQ(record.variants().back(), 100u);
  EXPECT_EQ(record.variants().front(), 3u);
}

TEST(VaryRecordTest, ARecordIsReadAsItWasWritten) {
  VaryRecord record(Names({"a, b"}), 0x1234);
  record.Add(5);
  record.Add(6);
  std::array<char, VaryRecord::kBytesMax> memory{};
  const std::string bytes(memory.data(), record.Encode(memory));
  VaryRecord read;
  ASSERT_TRUE(read.Decode(bytes));
  EXPECT_EQ(read.epoch(), 0x1234u);
  EXPECT_EQ(read.names().text(), "a,b");
  EXPECT_EQ(std::vector<uint64_t>(read.variants().begin(), read.variants().end()),
            (std::vector<uint64_t>{5, 6}));
}

TEST(VaryRecordTest, BytesThatAreNoRecordAreRefused) {
  VaryRecord record(Names({"a,b"}), 1);
  record.Add(5);
  std::array<char, VaryRecord::kBytesMax> memory{};
  const size_t size = record.Encode(memory);
  VaryRecord read;
  for (size_t cut = 0; cut < size; ++cut) {
    const std::vector<char> copy(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(cut));
    // Only the names can be shorter and still be names.
    const bool ends_in_names = cut == size - 2 || cut == size - 3;
    EXPECT_EQ(read.Decode({copy.data(), copy.size()}), ends_in_names) << cut;
  }
  memory[8] = static_cast<char>(kVariantsMax + 1);
  EXPECT_FALSE(read.Decode({memory.data(), memory.size()}));
  memory[8] = memory[15] = '\xff';
  EXPECT_FALSE(read.Decode({memory.data(), memory.size()}));
}

TEST(VaryRecordTest, VariantsOfAnotherEpochHaveOtherKeys) {
  const TestRequest request("a: 1");
  std::string first = "key";
  std::string second = "key";
  std::string again = "key";
  VaryRecord(Names({"a"}), 1).MakeVariantKey(request.head().lines, &first);
  VaryRecord(Names({"a"}), 2).MakeVariantKey(request.head().lines, &second);
  VaryRecord(Names({"a"}), 1).MakeVariantKey(request.head().lines, &again);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, second);
  EXPECT_TRUE(first.starts_with("key\n?"));
  EXPECT_TRUE(first.ends_with("\n+1"));
}

}  // namespace
}  // namespace httpsys::cache
