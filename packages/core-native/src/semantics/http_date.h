#pragma once
// Dates of fields: Date, Last-Modified, Expires, If-Modified-Since (RFC 9110, section 5.6.7).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace httpsys::semantics {

// Length of an IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT`.
inline constexpr size_t kHttpDateBytes = 29;

// First and last date that an IMF-fixdate with its four digits for the year can express, in seconds
// since 1970: the first second of the year 0 and the last one of 9999.
inline constexpr int64_t kHttpDateSecondsMin = -62'167'219'200;
inline constexpr int64_t kHttpDateSecondsMax = 253'402'300'799;

enum class DateCase : uint8_t {
  kExact,  // Names of days and months have the case of the grammar.
  kAny,    // The case does not matter, as for a cache (RFC 9111, section 4.2).
};

// Parses one of the three formats that recipients must accept: IMF-fixdate, the RFC 850 format and
// the asctime() format. Returns seconds since 1970, or nothing for any other text, for white space
// around the date, and for days and times that do not exist. A leap second counts as the next
// second. The name of the day must be valid, but need not fit the date. In the RFC 850 format, with
// two digits for the year, a date more than 50 years after `now_seconds` is in the previous
// century. Allocates nothing. Thread: any.
[[nodiscard]] std::optional<int64_t> ParseHttpDate(std::string_view text, int64_t now_seconds,
                                                   DateCase date_case = DateCase::kExact);

// Text of a date, without a final NUL.
struct HttpDateText {
  std::array<char, kHttpDateBytes> bytes;

  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

// Formats seconds since 1970 as IMF-fixdate. Clamps dates before kHttpDateSecondsMin and after
// kHttpDateSecondsMax, which files can have. Thread: any.
[[nodiscard]] HttpDateText FormatHttpDate(int64_t seconds);

// Formats the Date of responses, once for each second. Thread: one.
class ResponseDate {
 public:
  // Returns the text of Date. The view is valid until the next call.
  [[nodiscard]] std::string_view At(int64_t now_seconds) {
    if (now_seconds != seconds_) {
      seconds_ = now_seconds;
      text_ = FormatHttpDate(now_seconds);
    }
    return text_.view();
  }

 private:
  int64_t seconds_ = 0;
  HttpDateText text_ = FormatHttpDate(0);  // The text for seconds_.
};

}  // namespace httpsys::semantics
