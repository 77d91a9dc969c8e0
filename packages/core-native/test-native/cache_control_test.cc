#include "semantics/cache_control.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace httpsys::semantics {
namespace {

using State = DirectiveSeconds::State;

CacheControl Read(std::initializer_list<std::string_view> lines) {
  CacheControl directives;
  for (const std::string_view line : lines) ReadCacheControl(line, &directives);
  return directives;
}

CacheControl Read(std::string_view line) { return Read({line}); }

// The seconds of max-age, -1 without one, -2 with one that is invalid.
int64_t MaxAge(const CacheControl& directives) {
  if (directives.max_age.is_absent()) return -1;
  return directives.max_age.is_valid() ? int64_t{directives.max_age.seconds} : -2;
}

TEST(CacheControlTest, DirectivesAreFoundInEveryCaseAndOrder) {
  const CacheControl response = Read(
      "PUBLIC, Max-Age=60,s-maxage=30 ,\tmust-revalidate, proxy-revalidate, no-transform, "
      "stale-while-revalidate=5, stale-if-error=7, must-understand, no-store");
  EXPECT_TRUE(response.is_present && response.is_public && response.must_revalidate);
  EXPECT_TRUE(response.proxy_revalidate && response.no_transform && response.must_understand);
  EXPECT_TRUE(response.no_store);
  EXPECT_EQ(MaxAge(response), 60);
  EXPECT_EQ(response.s_maxage.seconds, 30u);
  EXPECT_EQ(response.stale_while_revalidate.seconds, 5u);
  EXPECT_EQ(response.stale_if_error.seconds, 7u);
  EXPECT_FALSE(response.no_cache.is_present() || response.is_private.is_present());

  const CacheControl request = Read("max-age=0, min-fresh=3, max-stale, only-if-cached, no-cache");
  EXPECT_EQ(request.min_fresh.seconds, 3u);
  EXPECT_TRUE(request.accepts_any_staleness && request.only_if_cached);
  EXPECT_TRUE(request.max_stale.is_absent());
  EXPECT_TRUE(request.no_cache.is_unqualified());
  EXPECT_EQ(Read("max-stale=9").max_stale.seconds, 9u);
}

TEST(CacheControlTest, AFieldWithoutDirectivesIsPresent) {
  EXPECT_FALSE(CacheControl().is_present);
  for (const char* text : {"", " ", ",", " , ,\t", "foobar", "=1", "\"x\"", "&&&"}) {
    EXPECT_TRUE(Read(text).is_present);
    EXPECT_EQ(MaxAge(Read(text)), -1) << text;
  }
}

TEST(CacheControlTest, AFieldWithSomethingElseThanDirectivesIsGarbled) {
  for (const char* text : {"", " , ", "public", "max-age=60,foo", "foo=bar", "foo=\"a, b\"",
                           "foo=\"\"", "foo=\"a\\\"b\", max-age=1", "foo=\"a\\\\\""}) {
    EXPECT_FALSE(Read(text).is_garbled) << text;
  }
  for (const char* text :
       {"public; no-store", "max-age=60 private", "=1", "\"x\"", "&&&, /", "foo=", "foo =1",
        "foo= 1", "private=\"x, max-age=60", "foo=\"a\"b", "foo=\"a\\\"", "foo=\"", "foo=a b"}) {
    EXPECT_TRUE(Read(text).is_garbled) << text;
    EXPECT_TRUE(Read({text, "max-age=60"}).is_garbled) << text;
  }
}

TEST(CacheControlTest, MaxAgeIsDigitsAloneOrBetweenQuotes) {
  EXPECT_EQ(MaxAge(Read("max-age=003600")), 3600);
  EXPECT_EQ(MaxAge(Read("max-age=\"3600\"")), 3600);
  EXPECT_EQ(MaxAge(Read("foobar, max-age=3600")), 3600);
  for (const char* text :
       {"max-age", "max-age=", "max-age =3600", "max-age= 3600", "max-age='3600'", "max-age=-1",
        "max-age=+1", "max-age=3600.0", "max-age=a3600", "max-age=3600a", "max-age=3600;x",
        "max-age=\"3600", "max-age=3600\"", "max-age=\"36\\00\"", "max-age=\"3600\"x",
        "max-age=\"\"", "max-age=\"1\"\"2\"", "max-age=1 2", "max-age==1"}) {
    EXPECT_EQ(MaxAge(Read(text)), -2) << text;
  }
}

TEST(CacheControlTest, LargeNumbersAreTheLargest) {
  EXPECT_EQ(MaxAge(Read("max-age=2147483647")), 2147483647);
  EXPECT_EQ(MaxAge(Read("max-age=2147483648")), 2147483648);
  EXPECT_EQ(MaxAge(Read("max-age=2147483649")), 2147483648);
  EXPECT_EQ(MaxAge(Read("max-age=18446744073709551617")), 2147483648);
  EXPECT_EQ(MaxAge(Read("max-age=" + std::string(500, '9'))), 2147483648);
  EXPECT_EQ(MaxAge(Read("max-age=" + std::string(500, '0') + "1")), 1);
}

TEST(CacheControlTest, OfSeveralTheSmallestCountsAndAnInvalidOneAlways) {
  EXPECT_EQ(MaxAge(Read("max-age=1800, max-age=1")), 1);
  EXPECT_EQ(MaxAge(Read({"max-age=1", "max-age=1800"})), 1);
  EXPECT_EQ(MaxAge(Read({"max-age=x", "max-age=1800"})), -2);
  EXPECT_EQ(MaxAge(Read({"max-age=1800", "max-age"})), -2);
  EXPECT_EQ(Read("min-fresh=1, min-fresh=9").min_fresh.seconds, 9u);
  EXPECT_EQ(Read("min-fresh=x, min-fresh=9").min_fresh.state, State::kInvalid);
}

TEST(CacheControlTest, QuotedTextsHideDirectives) {
  EXPECT_EQ(MaxAge(Read("extension=\"max-age=3600\", max-age=1")), 1);
  EXPECT_EQ(MaxAge(Read("max-age=1, extension=\"max-age=3600\"")), 1);
  EXPECT_EQ(MaxAge(Read("x=\"a, max-age=5\"")), -1);
  EXPECT_EQ(MaxAge(Read("x=\"a\\\", max-age=5\"")), -1);
  EXPECT_EQ(MaxAge(Read("x=\"\\\\\", max-age=5")), 5);
  // The rest of a line belongs to a quoted text that does not end; the next line does not.
  EXPECT_EQ(MaxAge(Read({"x=\"a, no-store", "max-age=5"})), 5);
  EXPECT_EQ(MaxAge(Read("x=\"a\\")), -1);
}

TEST(CacheControlTest, WhatForbidsNeedNotBeWellFormedAndWhatAllowsMust) {
  for (const char* tail : {"", "=1", ";", " x", "=\"", ":"}) {
    EXPECT_TRUE(Read("no-store" + std::string(tail)).no_store) << tail;
    EXPECT_TRUE(Read("must-revalidate" + std::string(tail)).must_revalidate) << tail;
    EXPECT_TRUE(Read("private" + std::string(tail)).is_private.is_present()) << tail;
    EXPECT_TRUE(Read("no-cache" + std::string(tail)).no_cache.is_present()) << tail;
    EXPECT_EQ(Read("public" + std::string(tail)).is_public, *tail == '\0') << tail;
    EXPECT_EQ(Read("must-understand" + std::string(tail)).must_understand, *tail == '\0') << tail;
  }
  EXPECT_FALSE(Read("no-storex, xno-store, nostore").no_store);
}

TEST(CacheControlTest, QualifiedDirectivesNameFields) {
  const CacheControl some = Read("private=\"Set-Cookie, X-User\", no-cache=ETag");
  EXPECT_TRUE(some.is_private.is_present());
  EXPECT_FALSE(some.is_private.is_unqualified());
  EXPECT_TRUE(some.is_private.Names("set-cookie"));
  EXPECT_TRUE(some.is_private.Names("X-USER"));
  EXPECT_FALSE(some.is_private.Names("X-Use"));
  EXPECT_TRUE(some.no_cache.Names("etag"));
  EXPECT_FALSE(some.no_cache.Names("age"));

  const CacheControl two = Read({"private=\"a\"", "private=\"b,,\""});
  EXPECT_TRUE(two.is_private.Names("a") && two.is_private.Names("b"));
  EXPECT_FALSE(two.is_private.Names(""));
  EXPECT_FALSE(two.is_private.is_unqualified());
}

TEST(CacheControlTest, QualifiedDirectivesThatAreUnclearForbidTheWholeMessage) {
  for (const char* text :
       {"private", "private=\"\"", "private=\",\"", "private=\"a b\"", "private=\"a\\b\"",
        "private=\"a", "private=", "private=a, private", "private=\"a\", private=\"b c\""}) {
    EXPECT_TRUE(Read(text).is_private.is_unqualified()) << text;
    EXPECT_TRUE(Read(text).is_private.Names("any")) << text;
  }
  std::string many = "private=a";
  for (size_t i = 1; i < QualifiedDirective::kListsMax; ++i) many += ", private=a";
  EXPECT_FALSE(Read(many).is_private.is_unqualified());
  EXPECT_TRUE(Read(many + ", private=a").is_private.is_unqualified());
}

TEST(CacheControlTest, EveryBeginningOfALineIsReadWithinItsBounds) {
  const std::string_view text = "max-age=\"1\\\"\" , private=\"a, b\\\\\", x=\"y\\";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::vector<char> copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    Read(std::string_view(copy.data(), copy.size()));
  }
  EXPECT_EQ(MaxAge(Read(text)), -2);
}

bool ReadTargeted(std::initializer_list<std::string_view> lines, CacheControl* directives) {
  TargetedCacheControl field;
  for (const std::string_view line : lines) field.AddLine(line);
  *directives = field.directives();
  return field.is_usable();
}

TEST(TargetedCacheControlTest, DirectivesAreTypedMembersOfADictionary) {
  CacheControl directives;
  ASSERT_TRUE(
      ReadTargeted({"max-age=60, public, stale-if-error=5;x=1", "private=\"a, b\""}, &directives));
  EXPECT_EQ(MaxAge(directives), 60);
  EXPECT_TRUE(directives.is_public);
  EXPECT_EQ(directives.stale_if_error.seconds, 5u);
  EXPECT_TRUE(directives.is_private.Names("b"));
  EXPECT_FALSE(directives.is_private.is_unqualified());
  ASSERT_TRUE(ReadTargeted({"max-age=99999999999"}, &directives));
  EXPECT_EQ(MaxAge(directives), 2147483648);
  ASSERT_TRUE(ReadTargeted({"max-age=9, max-age=3, foobar"}, &directives));
  EXPECT_EQ(MaxAge(directives), 3);
}

TEST(TargetedCacheControlTest, AValueOfTheWrongTypeIsInvalid) {
  CacheControl directives;
  for (const char* text :
       {"max-age=\"60\"", "max-age", "max-age=-1", "max-age=60.0", "max-age=?1", "max-age=tok",
        "max-age=(60)", "max-age=@60", "max-age=5, max-age=x", "max-age=x, max-age=5"}) {
    ASSERT_TRUE(ReadTargeted({text}, &directives)) << text;
    EXPECT_EQ(MaxAge(directives), -2) << text;
  }
  ASSERT_TRUE(ReadTargeted({"no-store=?0, private=5, public=?0, no-cache=\"\\\\\""}, &directives));
  EXPECT_TRUE(directives.no_store && directives.is_private.is_unqualified());
  EXPECT_TRUE(directives.no_cache.is_unqualified());
  EXPECT_FALSE(directives.is_public);
}

TEST(TargetedCacheControlTest, AFieldThatIsEmptyOrNoDictionaryIsIgnored) {
  CacheControl directives;
  EXPECT_FALSE(ReadTargeted({}, &directives));
  EXPECT_FALSE(ReadTargeted({""}, &directives));
  EXPECT_FALSE(ReadTargeted({"max-age=5", ""}, &directives));
  EXPECT_FALSE(ReadTargeted({"", "max-age=5"}, &directives));
  EXPECT_FALSE(ReadTargeted({"max-age=10000, &&&&&"}, &directives));
  EXPECT_FALSE(ReadTargeted({"max-age=5", "MaX-aGe=5"}, &directives));
  EXPECT_FALSE(ReadTargeted({"max-age =100"}, &directives));
}

}  // namespace
}  // namespace httpsys::semantics
