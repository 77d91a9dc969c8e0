#include "semantics/http_date.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace httpsys::semantics {
namespace {

constexpr int64_t kExample = 784'111'777;  // Of RFC 9110: 6 November 1994, 08:49:37.
constexpr int64_t kNow = 1'795'910'400;    // 28 November 2026, 00:00:00.
constexpr int64_t kDaySeconds = 24 * 60 * 60;

TEST(ParseHttpDate, TheThreeFormatsNameTheSameSecond) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sun Nov 06 08:49:37 1994", kNow), kExample);
}

TEST(ParseHttpDate, TheNameOfTheDayNeedNotBeThatOfTheDate) {
  EXPECT_EQ(ParseHttpDate("Mon, 06 Nov 1994 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Wednesday, 06-Nov-94 08:49:37 GMT", kNow), kExample);
}

TEST(ParseHttpDate, LimitsOfDaysAndTimes) {
  EXPECT_EQ(ParseHttpDate("Thu, 01 Jan 1970 00:00:00 GMT", kNow), 0);
  EXPECT_EQ(ParseHttpDate("Wed, 31 Dec 1969 23:59:59 GMT", kNow), -1);
  EXPECT_EQ(ParseHttpDate("Sat, 01 Jan 0000 00:00:00 GMT", kNow), kHttpDateSecondsMin);
  EXPECT_EQ(ParseHttpDate("Fri, 31 Dec 9999 23:59:59 GMT", kNow), kHttpDateSecondsMax);
  EXPECT_TRUE(ParseHttpDate("Thu, 29 Feb 2024 00:00:00 GMT", kNow).has_value());
  EXPECT_TRUE(ParseHttpDate("Tue, 29 Feb 2000 00:00:00 GMT", kNow).has_value());
  EXPECT_EQ(ParseHttpDate("Sat, 31 Dec 2016 23:59:60 GMT", kNow),
            ParseHttpDate("Sun, 01 Jan 2017 00:00:00 GMT", kNow));
}

TEST(ParseHttpDate, ATextThatIsNoDateIsRefused) {
  for (const std::string_view text : {"",
                                      "0",
                                      "-1",
                                      ",",
                                      "Sun",
                                      "Sun,",
                                      "784111777",
                                      "1994-11-06T08:49:37Z",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 ",
                                      "Sun, 06 Nov 1994 08:49:37 GM",
                                      "Sun, 06 Nov 1994 08:49:37 UTC",
                                      "Sun, 06 Nov 1994 08:49:37 +0000",
                                      "Sun, 06 Nov 1994 08:49:37 GMT ",
                                      " Sun, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37 GMT; length=1",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun,  6 Nov 1994 08:49:37 GMT",
                                      "Sun 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 94 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 8:49:37 GMT",
                                      "Sun, 06 Nov 1994 08.49.37 GMT",
                                      "Sun, 06 Nov 1994 24:00:00 GMT",
                                      "Sun, 06 Nov 1994 08:60:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:61 GMT",
                                      "Sun, 00 Nov 1994 08:49:37 GMT",
                                      "Thu, 31 Nov 1994 08:49:37 GMT",
                                      "Wed, 29 Feb 2023 00:00:00 GMT",
                                      "Thu, 29 Feb 1900 00:00:00 GMT",
                                      "Sun, 06 Nox 1994 08:49:37 GMT",
                                      "Sux, 06 Nov 1994 08:49:37 GMT",
                                      "sun, 06 nov 1994 08:49:37 gmt",
                                      "Sun, 06-Nov-1994 08:49:37 GMT",
                                      "Sun, 06 Nov -994 08:49:37 GMT",
                                      "Sun, +6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:3x GMT",
                                      "Sun, 06-Nov-94 08:49:37 GMT",
                                      "Sunday, 06-Nov-1994 08:49:37 GMT",
                                      "Sunday, 06 Nov 94 08:49:37 GMT",
                                      "Sunday, 06-Nov-94 08:49:37",
                                      "Sunday, 31-Feb-94 08:49:37 GMT",
                                      "Sun Nov 6 08:49:37 1994",
                                      "Sun Nov   6 08:49:37 1994",
                                      "Sun Nov  6 08:49:37 1994 GMT",
                                      "Sun Nov  6 08:49:37 94",
                                      "Sun Nov  0 08:49:37 1994",
                                      "Sun Nov 31 08:49:37 1994"}) {
    EXPECT_FALSE(ParseHttpDate(text, kNow).has_value()) << text;
  }
}

TEST(ParseHttpDate, NoBeginningAndNoChangedByteOfADateIsAnotherDateByAccident) {
  for (const std::string whole : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                  "Sun Nov  6 08:49:37 1994"}) {
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(ParseHttpDate(whole.substr(0, bytes), kNow).has_value()) << bytes;
    }
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const char c : {'\0', 'x', '-', '/', ':', '\xff'}) {
        std::string changed = whole;
        changed[at] = c;
        if (changed == whole) continue;
        EXPECT_FALSE(ParseHttpDate(changed, kNow).has_value()) << changed;
      }
    }
  }
}

TEST(ParseHttpDate, ACacheMayIgnoreTheCase) {
  for (const char* text : {"SUN, 06 nov 1994 08:49:37 gmt", "sunday, 06-NOV-94 08:49:37 Gmt",
                           "sUN nOV  6 08:49:37 1994"}) {
    EXPECT_EQ(ParseHttpDate(text, kNow, DateCase::kAny), kExample) << text;
    EXPECT_FALSE(ParseHttpDate(text, kNow, DateCase::kExact).has_value()) << text;
  }
  // A control character differs from a space as a capital does from a small letter.
  EXPECT_FALSE(ParseHttpDate(std::string_view("Sun,\0"
                                              "06 Nov 1994 08:49:37 GMT",
                                              29),
                             kNow, DateCase::kAny)
                   .has_value());
}

TEST(ParseHttpDate, TwoDigitsOfAYearAreAtMost50YearsAhead) {
  const auto year_of = [](std::string_view text, int64_t now) {
    const std::optional<int64_t> seconds = ParseHttpDate(text, now);
    if (!seconds.has_value()) return std::string("none");
    return std::string(FormatHttpDate(*seconds).view().substr(12, 4));
  };
  EXPECT_EQ(year_of("Sunday, 01-Jan-26 00:00:00 GMT", kNow), "2026");
  EXPECT_EQ(year_of("Sunday, 01-Jan-76 00:00:00 GMT", kNow), "2076");
  EXPECT_EQ(year_of("Sunday, 26-Nov-76 00:00:00 GMT", kNow), "2076");
  EXPECT_EQ(year_of("Sunday, 30-Nov-76 00:00:00 GMT", kNow), "1976");
  EXPECT_EQ(year_of("Sunday, 01-Jan-77 00:00:00 GMT", kNow), "1977");
  EXPECT_EQ(year_of("Sunday, 01-Jan-00 00:00:00 GMT", kNow), "2000");
  // 1970: 50 years later is 2020.
  EXPECT_EQ(year_of("Sunday, 01-Jan-19 00:00:00 GMT", 0), "2019");
  EXPECT_EQ(year_of("Sunday, 01-Jan-21 00:00:00 GMT", 0), "1921");
  // 2100 is no leap year, 2000 is one.
  EXPECT_EQ(year_of("Sunday, 29-Feb-00 00:00:00 GMT", 2'839'968'000), "2000");  // 30 December 2059.
}

TEST(FormatHttpDate, ADateHasItsDayOfTheWeek) {
  EXPECT_EQ(FormatHttpDate(kExample).view(), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(FormatHttpDate(0).view(), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate(-1).view(), "Wed, 31 Dec 1969 23:59:59 GMT");
  EXPECT_EQ(FormatHttpDate(kHttpDateSecondsMin).view(), "Sat, 01 Jan 0000 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate(kHttpDateSecondsMax).view(), "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(FormatHttpDate, ATimeBeyondFourDigitsOfAYearIsTheNearestThatHasThem) {
  EXPECT_EQ(FormatHttpDate(INT64_MIN).view(), FormatHttpDate(kHttpDateSecondsMin).view());
  EXPECT_EQ(FormatHttpDate(INT64_MAX).view(), FormatHttpDate(kHttpDateSecondsMax).view());
}

TEST(FormatHttpDate, EveryDayIsThatOfTheSystemAndReadAsWritten) {
  for (int64_t day = kHttpDateSecondsMin / kDaySeconds; day < kHttpDateSecondsMax / kDaySeconds;
       day += 13) {
    const time_t seconds =
        day * kDaySeconds + (day * 7919 % kDaySeconds + kDaySeconds) % kDaySeconds;
    tm utc{};
    gmtime_r(&seconds, &utc);
    char wanted[64];
    // glibc writes a year before 1000 with fewer digits.
    strftime(wanted, sizeof wanted, "%a, %d %b ", &utc);
    char rest[32];
    snprintf(rest, sizeof rest, "%04d %02d:%02d:%02d GMT", utc.tm_year + 1900, utc.tm_hour,
             utc.tm_min, utc.tm_sec);
    ASSERT_EQ(FormatHttpDate(seconds).view(), std::string(wanted) + rest);
    ASSERT_EQ(ParseHttpDate(FormatHttpDate(seconds).view(), kNow), seconds);
  }
}

}  // namespace
}  // namespace httpsys::semantics
