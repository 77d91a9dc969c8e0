#include "semantics/structured_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace httpsys::semantics {
namespace {

using Step = DictionaryScanner::Step;

// The keys of a dictionary, or "error".
std::string KeysOf(std::string_view text) {
  DictionaryScanner scanner(text);
  DictionaryMember member;
  std::string keys;
  while (true) {
    switch (scanner.Next(&member)) {
      case Step::kMember:
        keys += keys.empty() ? "" : " ";
        keys += member.key;
        break;
      case Step::kEnd:
        EXPECT_EQ(scanner.Next(&member), Step::kEnd);
        return keys;
      case Step::kError:
        EXPECT_EQ(scanner.Next(&member), Step::kError);
        return "error";
    }
  }
}

DictionaryMember Only(std::string_view text) {
  DictionaryScanner scanner(text);
  DictionaryMember member;
  EXPECT_EQ(scanner.Next(&member), Step::kMember) << text;
  DictionaryMember ignored;
  EXPECT_EQ(scanner.Next(&ignored), Step::kEnd) << text;
  return member;
}

TEST(StructuredFieldsTest, MembersOfEveryTypeAreScanned) {
  EXPECT_EQ(KeysOf("max-age=60, must-revalidate"), "max-age must-revalidate");
  EXPECT_EQ(KeysOf("  a=1 ,\t b=-2.5,c=\"x\\\"y\\\\\", d=tok/en:*, e=:AbC+/w==:, f=?0, g=@-1, "
                   "h=%\"caf%c3%a9\", i=(1 \"b\";q=?1 tok);x=2, *j;y  "),
            "a b c d e f g h i *j");
}

TEST(StructuredFieldsTest, ValuesAreThoseOfTheText) {
  EXPECT_EQ(Only("a=999999999999999").integer, 999'999'999'999'999);
  EXPECT_EQ(Only("a=-1").integer, -1);
  EXPECT_EQ(Only("a=007").integer, 7);
  EXPECT_EQ(Only("a=1.5").type, StructuredType::kDecimal);
  EXPECT_EQ(Only("a=\"x, y\"").text, "x, y");
  EXPECT_EQ(Only("a=tok").type, StructuredType::kToken);
  EXPECT_TRUE(Only("a").boolean);
  EXPECT_TRUE(Only("a;p=1").boolean);
  EXPECT_FALSE(Only("a=?0").boolean);
  EXPECT_EQ(Only("a=@1659578233").type, StructuredType::kDate);
  EXPECT_EQ(Only("a=@1659578233").integer, 1'659'578'233);
  EXPECT_EQ(Only("a=(1 2)").type, StructuredType::kInnerList);
  EXPECT_EQ(Only("a=:YQ==:").type, StructuredType::kBytes);
  EXPECT_EQ(Only("a=%\"x\"").type, StructuredType::kDisplayString);
}

TEST(StructuredFieldsTest, AnEmptyTextIsAnEmptyDictionary) {
  EXPECT_EQ(KeysOf(""), "");
  EXPECT_EQ(KeysOf("   "), "");
}

TEST(StructuredFieldsTest, TextsThatAreNoDictionaryAreRefused) {
  for (const char* text : {"A=1",
                           "MaX-aGe=3600",
                           "1=2",
                           "a=",
                           "a= 1",
                           "a =1",
                           "a=1,",
                           ",a=1",
                           "a=1,,b=2",
                           "a=1 b=2",
                           "max-age=10000, &&&&&",
                           "a=1.",
                           "a=1.1234",
                           "a=1234567890123.1",
                           "a=1234567890123456",
                           "a=-",
                           "a=--1",
                           "a=\"x",
                           "a=\"x\\",
                           "a=\"x\\y\"",
                           "a=\"\x7f\"",
                           "a=\"\xc3\"",
                           "a=?2",
                           "a=?",
                           "a=@1.5",
                           "a=@",
                           "a=:abc",
                           "a=:a\\c:",
                           "a=%x",
                           "a=%\"%C3\"",
                           "a=%\"%c\"",
                           "a=%\"x",
                           "a=(1",
                           "a=(1,2)",
                           "a=((1))",
                           "a=(1\t2)",
                           "a=1;",
                           "a=1;B",
                           "a=1;b=",
                           "a;=1",
                           "\ta=1",
                           "a=1;b=(1)"}) {
    EXPECT_EQ(KeysOf(text), "error") << text;
  }
}

TEST(StructuredFieldsTest, EveryBeginningOfAFieldIsScannedWithinItsBounds) {
  const std::string_view text = "a=(1 \"b\";q=?1);x=2, b=:YQ==:, c=%\"%c3%a9\", d=@-12, e=\"\\\"\"";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::vector<char> copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    KeysOf({copy.data(), copy.size()});
  }
  EXPECT_EQ(KeysOf(text), "a b c d e");
}

}  // namespace
}  // namespace httpsys::semantics
