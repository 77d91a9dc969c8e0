#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace httpapi_double {

std::string ToLower(std::string_view text);
bool EqualsIgnoringCase(std::string_view a, std::string_view b);
std::string_view Trim(std::string_view text);
std::vector<std::string_view> Split(std::string_view text, char separator);
// Whether a comma-separated list has that token.
bool HasToken(std::string_view list, std::string_view token);
std::string Narrow(std::wstring_view text);
std::wstring Widen(std::string_view text);
// %XX; `keeps_slash` leaves %2F as it is.
std::string PercentDecoded(std::string_view text, bool keeps_slash);
// With the quotes.
std::string JsonText(std::string_view text);

}  // namespace httpapi_double
