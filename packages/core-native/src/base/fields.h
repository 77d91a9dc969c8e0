#pragma once
// Lists the members of a struct once for all code that handles each of them: encoders, and the
// reader of JavaScript's objects.

#include <string_view>

// Gives a struct Fields(), which calls a visitor with all of these members, and kFieldNames, their
// names with ", " between them. In JavaScript a member has the same words in camelCase.
#define HTTPSYS_FIELDS(...)     \
  template <typename Visitor>   \
  void Fields(Visitor& visit) { \
    visit(__VA_ARGS__);         \
  }                             \
  static constexpr std::string_view kFieldNames = #__VA_ARGS__
