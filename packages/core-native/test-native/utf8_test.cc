#include "websocket/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "support/guard_page.h"

namespace httpsys::websocket {
namespace {

using std::operator""sv;

// RFC 3629 as written: decodes and looks at the result.
bool IsUtf8ByDecoding(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t bytes = first < 0x80             ? 1
                         : (first & 0xe0) == 0xc0 ? 2
                         : (first & 0xf0) == 0xe0 ? 3
                         : (first & 0xf8) == 0xf0 ? 4
                                                  : 0;
    if (bytes == 0 || i + bytes > text.size()) return false;
    uint32_t value = bytes == 1 ? first : first & (0x7f >> bytes);
    for (size_t k = 1; k < bytes; k++) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      value = value << 6 | (next & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < kSmallest[bytes] || value > 0x10ffff) return false;
    if (value >= 0xd800 && value <= 0xdfff) return false;
    i += bytes;
  }
  return true;
}

// Alone, and with something behind it: characters far from the end are looked at differently.
void ExpectJudgedAsByDecoding(std::string text) {
  const bool is_good = IsUtf8ByDecoding(text);
  ASSERT_EQ(IsUtf8(text), is_good) << testing::PrintToString(text);
  text += "abcd";
  ASSERT_EQ(IsUtf8(text), IsUtf8ByDecoding(text)) << testing::PrintToString(text);
}

TEST(Utf8, EveryTextOfUpToTwoBytesAndAllThatMattersOfLongerOnesIsJudgedAsByDecoding) {
  const uint8_t kEdges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1,
                            0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3,
                            0xf4, 0xf5, 0xf7, 0xf8, 0xfb, 0xfc, 0xfd, 0xfe, 0xff};
  for (unsigned first = 0; first < 256; first++) {
    for (unsigned second = 0; second < 256; second++) {
      std::string text{static_cast<char>(first), static_cast<char>(second)};
      ExpectJudgedAsByDecoding(text);
      if (std::find(std::begin(kEdges), std::end(kEdges), second) == std::end(kEdges)) continue;
      for (const uint8_t third : kEdges) {
        text.resize(2);
        text += static_cast<char>(third);
        ExpectJudgedAsByDecoding(text);
        for (const uint8_t fourth : kEdges) {
          text.resize(3);
          text += static_cast<char>(fourth);
          ExpectJudgedAsByDecoding(text);
        }
      }
    }
  }
}

TEST(Utf8, TheJudgementDoesNotDependOnWhereTheTextBeginsAndEnds) {
  const std::string_view kTexts[] = {
      "κόσμε"sv,
      "\xf0\x90\x80\x80"sv,
      "\xf4\x8f\xbf\xbf"sv,
      "\xf4\x90\x80\x80"sv,
      "\xed\xa0\x80"sv,
      "\xc0\xaf"sv,
      "\xe0\x80\xaf"sv,
      "\xff"sv,
      "\xe2\x82"sv,
      "\xf0\x9f\x98"sv,
      "日本語"sv,
      "a\x80"sv,
      "\xef\xbf\xbf é"sv,
      "\xce\xba\xce\xce\xba"sv,
  };
  test::GuardPage page(4096);
  for (const std::string_view text : kTexts) {
    const bool is_good = IsUtf8ByDecoding(text);
    for (size_t before = 0; before < 70; before++) {
      for (const size_t after : {0, 1, 2, 3, 4, 7, 8, 9, 31, 32, 33}) {
        const std::string whole =
            std::string(before, 'x').append(text).append(std::string(after, 'y'));
        ASSERT_EQ(IsUtf8(page.Place(whole)), is_good) << before << " " << text << " " << after;
      }
    }
  }
}

TEST(Utf8, TheJudgementDoesNotDependOnHowTheTextIsCut) {
  const std::string text = "0123456789abcdef κόσμε \xf0\x9f\x98\x80 \xef\xbf\xbd 日本語, the end";
  for (size_t one = 0; one <= text.size(); one++) {
    for (size_t two = one; two <= text.size(); two++) {
      Utf8Validator validator;
      EXPECT_TRUE(validator.Add(std::string_view(text).substr(0, one)));
      EXPECT_TRUE(validator.Add(std::string_view(text).substr(one, two - one)));
      EXPECT_TRUE(validator.Add(std::string_view(text).substr(two)));
      ASSERT_TRUE(validator.is_complete()) << one << " " << two;
    }
  }
}

TEST(Utf8, ATextFailsAtItsFirstByteThatNothingCanMakeGood) {
  const std::string_view kTexts[] = {
      "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90"sv,
      "\xed\xa0"sv,
      "\xe0\x9f"sv,
      "\xf0\x8f"sv,
      "\xc1"sv,
      "\xf5"sv,
      "abc\x80"sv,
      "\xe2\x82\x28"sv,
  };
  for (const std::string_view text : kTexts) {
    Utf8Validator validator;
    for (const char c : text.substr(0, text.size() - 1)) EXPECT_TRUE(validator.Add({&c, 1}));
    EXPECT_FALSE(validator.Add(text.substr(text.size() - 1))) << testing::PrintToString(text);
    EXPECT_FALSE(validator.Add("a"));
    EXPECT_FALSE(validator.is_complete());
  }
}

TEST(Utf8, ACharacterThatIsNotWholeIsGoodUntilTheEnd) {
  Utf8Validator validator;
  EXPECT_TRUE(validator.is_complete());
  EXPECT_TRUE(validator.Add("\xe2\x82"));
  EXPECT_TRUE(validator.is_valid());
  EXPECT_FALSE(validator.is_complete());
  EXPECT_TRUE(validator.Add(""));
  EXPECT_TRUE(validator.Add("\xac"));
  EXPECT_TRUE(validator.is_complete());
}

}  // namespace
}  // namespace httpsys::websocket
