#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "semantics/preconditions.h"

namespace httpsys::semantics {
namespace {

using namespace std::string_view_literals;

std::vector<std::string> Members(std::string_view value) {
  EntityTagList list(value);
  std::vector<std::string> members;
  EntityTag tag;
  while (list.Next(&tag)) members.push_back((tag.is_weak ? "W/" : "") + std::string(tag.opaque));
  EXPECT_FALSE(list.Next(&tag)) << "nothing behind the end";
  return members;
}

using Texts = std::vector<std::string>;

TEST(ParseEntityTag, StrongAndWeakTags) {
  const auto strong = ParseEntityTag("\"xyzzy\"");
  ASSERT_TRUE(strong.has_value());
  EXPECT_EQ(strong->opaque, "\"xyzzy\"");
  EXPECT_FALSE(strong->is_weak);
  const auto weak = ParseEntityTag("W/\"a-b\"");
  ASSERT_TRUE(weak.has_value());
  EXPECT_EQ(weak->opaque, "\"a-b\"");
  EXPECT_TRUE(weak->is_weak);
  EXPECT_TRUE(ParseEntityTag("\"\"").has_value());
  EXPECT_TRUE(ParseEntityTag("\"a,b\\\"").has_value()) << "a backslash escapes nothing";
  EXPECT_TRUE(ParseEntityTag("\"\x80\xff\"").has_value());
}

TEST(ParseEntityTag, EveryByteBetweenTheQuotes) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_tag_byte = byte == 0x21 || (byte >= 0x23 && byte <= 0x7E) || byte >= 0x80;
    const std::string text = {'"', static_cast<char>(byte), '"'};
    EXPECT_EQ(ParseEntityTag(text).has_value(), is_tag_byte) << byte;
  }
}

TEST(ParseEntityTag, AnyOtherTextIsNone) {
  for (const std::string_view text :
       {""sv,           "x"sv,           "*"sv,      "\""sv,      "\"x"sv,
        "x\""sv,        "W/"sv,          "W/x"sv,    "W/\"x"sv,   "w/\"x\""sv,
        "W \"x\""sv,    "W/ \"x\""sv,    " \"x\""sv, "\"x\" "sv,  "\"x\"y"sv,
        "\"x\"\"y\""sv, "\"x\",\"y\""sv, "'x'"sv,    "\"a b\""sv, "\"a\0b\""sv}) {
    EXPECT_FALSE(ParseEntityTag(text).has_value()) << text;
  }
}

TEST(IsSameTag, TheTableOfRfc9110) {
  const EntityTag weak1{"\"1\"", true};
  const EntityTag weak2{"\"2\"", true};
  const EntityTag strong1{"\"1\"", false};
  EXPECT_FALSE(IsSameTag(weak1, weak1, TagComparison::kStrong));
  EXPECT_TRUE(IsSameTag(weak1, weak1, TagComparison::kWeak));
  EXPECT_FALSE(IsSameTag(weak1, weak2, TagComparison::kStrong));
  EXPECT_FALSE(IsSameTag(weak1, weak2, TagComparison::kWeak));
  EXPECT_FALSE(IsSameTag(weak1, strong1, TagComparison::kStrong));
  EXPECT_FALSE(IsSameTag(strong1, weak1, TagComparison::kStrong));
  EXPECT_TRUE(IsSameTag(weak1, strong1, TagComparison::kWeak));
  EXPECT_TRUE(IsSameTag(strong1, strong1, TagComparison::kStrong));
  EXPECT_TRUE(IsSameTag(strong1, strong1, TagComparison::kWeak));
}

TEST(EntityTagList, MembersInTheirOrder) {
  EXPECT_EQ(Members("\"a\""), Texts({"\"a\""}));
  EXPECT_EQ(Members("\"a\", W/\"b\",\"c\""), Texts({"\"a\"", "W/\"b\"", "\"c\""}));
  EXPECT_EQ(Members("\"a,b\", \"c\""), Texts({"\"a,b\"", "\"c\""}));
  EXPECT_EQ(Members(" \t\"a\"\t ,\t\"b\" "), Texts({"\"a\"", "\"b\""}));
}

TEST(EntityTagList, EmptyMembersAreSkipped) {
  EXPECT_EQ(Members(",, ,\"a\", ,\t,\"b\",,"), Texts({"\"a\"", "\"b\""}));
  EXPECT_EQ(Members(""), Texts());
  EXPECT_EQ(Members(" , ,"), Texts());
}

TEST(EntityTagList, NothingIsReadBehindAMemberThatIsNoTag) {
  EXPECT_EQ(Members("\"a\", b, \"c\""), Texts({"\"a\""}));
  EXPECT_EQ(Members("\"a\" \"b\""), Texts());
  EXPECT_EQ(Members("\"a\";q=1, \"c\""), Texts());
  EXPECT_EQ(Members("a, \"c\""), Texts());
  EXPECT_EQ(Members("\"a\", \"b"), Texts({"\"a\""}));
  EXPECT_EQ(Members("\"a\", *"), Texts({"\"a\""}));
  EXPECT_EQ(Members("*, \"a\""), Texts());
}

TEST(EntityTagList, AnAsteriskAloneIsAny) {
  EXPECT_TRUE(EntityTagList("*").is_any());
  EXPECT_TRUE(EntityTagList(" *\t").is_any());
  for (const char* value : {"", "**", "*,", "\"*\"", "*, \"a\"", "\"a\", *", "W/*"}) {
    EXPECT_FALSE(EntityTagList(value).is_any()) << value;
  }
  EXPECT_EQ(Members("*"), Texts());
}

TEST(HasTag, ATagIsFoundAnywhereInTheList) {
  const EntityTag tag{"\"b\"", false};
  for (const char* list : {"\"b\"", "\"a\", \"b\"", "\"b\", \"a\"", "\"b\",x", ",\"b\""}) {
    EXPECT_TRUE(HasTag(list, tag, TagComparison::kStrong)) << list;
  }
  for (const char* list : {"", "*", "\"a\"", "b", "\"B\"", "\"a,\"b\"\"", "x,\"b\"", "W/\"b\""}) {
    EXPECT_FALSE(HasTag(list, tag, TagComparison::kStrong)) << list;
  }
  EXPECT_TRUE(HasTag("W/\"b\"", tag, TagComparison::kWeak));
}

}  // namespace
}  // namespace httpsys::semantics
