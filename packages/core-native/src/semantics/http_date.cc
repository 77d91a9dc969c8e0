#include "semantics/http_date.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/ascii.h"

namespace httpsys::semantics {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Largest distance of a two-digit year into the future: 50 years of 365.2425 days, in seconds.
constexpr int64_t kSecondsAheadMax = int64_t{50} * 31'556'952;

struct DateFields {
  int year = 0;
  int month = 0;  // 1 to 12.
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// Reads the parts of a date in sequence. After a part that does not match, reads nothing more.
class DateReader {
 public:
  DateReader(std::string_view text, DateCase date_case) : left_(text), case_(date_case) {}

  DateReader& Text(std::string_view wanted) {
    if (StartsWith(wanted)) {
      left_.remove_prefix(wanted.size());
    } else {
      is_valid_ = false;
    }
    return *this;
  }

  // Reads one of `names`, and sets `number` to its index. No name is the beginning of another one.
  DateReader& Name(std::span<const std::string_view> names, int* number) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [this](std::string_view name) { return StartsWith(name); });
    if (found == names.end()) {
      is_valid_ = false;
      return *this;
    }
    *number = static_cast<int>(found - names.begin());
    return Text(*found);
  }

  // Reads exactly `digits` digits.
  DateReader& Number(size_t digits, int* number) {
    is_valid_ = is_valid_ && left_.size() >= digits;
    if (!is_valid_) return *this;
    *number = 0;
    for (const char c : left_.substr(0, digits)) {
      is_valid_ = is_valid_ && IsDigit(c);
      *number = *number * 10 + (c - '0');
    }
    left_.remove_prefix(digits);
    return *this;
  }

  // Reads a day of asctime(): two digits, or a space and one digit.
  DateReader& PaddedDay(int* day) {
    return StartsWith(" ") ? Text(" ").Number(1, day) : Number(2, day);
  }

  DateReader& Time(DateFields* fields) {
    return Number(2, &fields->hour)
        .Text(":")
        .Number(2, &fields->minute)
        .Text(":")
        .Number(2, &fields->second);
  }

  bool is_at_end() const { return is_valid_ && left_.empty(); }

 private:
  bool StartsWith(std::string_view wanted) const {
    if (!is_valid_ || left_.size() < wanted.size()) return false;
    return std::equal(wanted.begin(), wanted.end(), left_.begin(), [this](char a, char b) {
      return a == b || (case_ == DateCase::kAny && LowerCase(a) == LowerCase(b));
    });
  }

  std::string_view left_;
  DateCase case_;
  bool is_valid_ = true;
};

// Returns the seconds since 1970, or nothing if the day or time does not exist.
std::optional<int64_t> SecondsOf(const DateFields& fields) {
  const std::chrono::year_month_day date(std::chrono::year(fields.year),
                                         std::chrono::month(static_cast<unsigned>(fields.month)),
                                         std::chrono::day(static_cast<unsigned>(fields.day)));
  // Allow 60 for a leap second.
  if (!date.ok() || fields.hour > 23 || fields.minute > 59 || fields.second > 60) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + fields.hour) * 60 + fields.minute) * 60 + fields.second;
}

std::optional<int64_t> ParseFixdate(DateReader reader) {
  DateFields fields;
  int weekday = 0;
  reader.Name(kDays, &weekday).Text(", ").Number(2, &fields.day).Text(" ");
  reader.Name(kMonths, &fields.month).Text(" ").Number(4, &fields.year).Text(" ");
  if (!reader.Time(&fields).Text(" GMT").is_at_end()) return std::nullopt;
  ++fields.month;
  return SecondsOf(fields);
}

std::optional<int64_t> ParseRfc850Date(DateReader reader, int64_t now_seconds) {
  DateFields fields;
  int weekday = 0;
  reader.Name(kLongDays, &weekday).Text(", ").Number(2, &fields.day).Text("-");
  reader.Name(kMonths, &fields.month).Text("-").Number(2, &fields.year).Text(" ");
  if (!reader.Time(&fields).Text(" GMT").is_at_end()) return std::nullopt;
  ++fields.month;
  const int64_t limit =
      std::clamp(now_seconds, kHttpDateSecondsMin, kHttpDateSecondsMax) + kSecondsAheadMax;
  const std::chrono::year_month_day limit_day(
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(limit))));
  const int limit_year = static_cast<int>(limit_day.year());
  fields.year = limit_year - (limit_year - fields.year) % 100;
  std::optional<int64_t> seconds = SecondsOf(fields);
  // The date is too late, or a 29th of February that only the last century has: go back to that.
  if (!seconds.has_value() || *seconds > limit) {
    fields.year -= 100;
    seconds = SecondsOf(fields);
  }
  return seconds;
}

std::optional<int64_t> ParseAsctimeDate(DateReader reader) {
  DateFields fields;
  int weekday = 0;
  reader.Name(kDays, &weekday).Text(" ").Name(kMonths, &fields.month).Text(" ");
  reader.PaddedDay(&fields.day).Text(" ").Time(&fields).Text(" ").Number(4, &fields.year);
  if (!reader.is_at_end()) return std::nullopt;
  ++fields.month;
  return SecondsOf(fields);
}

// Writes the last `digits` digits of `number`.
void PutDigits(int number, size_t digits, char* at) {
  for (size_t i = digits; i > 0; --i) {
    at[i - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

}  // namespace

std::optional<int64_t> ParseHttpDate(std::string_view text, int64_t now_seconds,
                                     DateCase date_case) {
  const DateReader reader(text, date_case);
  // The comma differs: fourth byte of IMF-fixdate, later in RFC 850, none in asctime().
  if (text.size() == kHttpDateBytes && text[3] == ',') return ParseFixdate(reader);
  if (text.find(',') != std::string_view::npos) return ParseRfc850Date(reader, now_seconds);
  return ParseAsctimeDate(reader);
}

HttpDateText FormatHttpDate(int64_t seconds) {
  constexpr std::string_view kFormat = "Sun, 00 Jan 0000 00:00:00 GMT";
  static_assert(kFormat.size() == kHttpDateBytes);
  const std::chrono::seconds time(std::clamp(seconds, kHttpDateSecondsMin, kHttpDateSecondsMax));
  const std::chrono::sys_days day(std::chrono::floor<std::chrono::days>(time));
  const std::chrono::year_month_day date(day);
  const int second = static_cast<int>((time - day.time_since_epoch()).count());
  HttpDateText text;
  char* const out = text.bytes.data();
  std::copy(kFormat.begin(), kFormat.end(), out);
  const std::string_view weekday = kDays[std::chrono::weekday(day).c_encoding()];
  const std::string_view month = kMonths[static_cast<unsigned>(date.month()) - 1];
  std::copy(weekday.begin(), weekday.end(), out);
  std::copy(month.begin(), month.end(), out + 8);
  PutDigits(static_cast<int>(static_cast<unsigned>(date.day())), 2, out + 5);
  PutDigits(static_cast<int>(date.year()), 4, out + 12);
  PutDigits(second / 3600, 2, out + 17);
  PutDigits(second / 60 % 60, 2, out + 20);
  PutDigits(second % 60, 2, out + 23);
  return text;
}

}  // namespace httpsys::semantics
