#include "static_files/static_options.h"

#include <bitset>
#include <cstddef>

#include "static_files/request_path.h"

namespace httpsys::static_files {
namespace {

// A set of positions in a text: bit n is the position before byte n.
using Places = std::bitset<kFilePathBytesMax + 1>;

// Each of the next three functions handles one part of a pattern: returns the positions at which
// the part can end if it begins at one of `places`.

Places AfterByte(const Places& places, std::string_view text, char wanted) {
  Places after;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_equal = wanted == '?' ? text[i] != '/' : text[i] == wanted;
    if (places[i] && is_equal) after.set(i + 1);
  }
  return after;
}

Places AfterStar(const Places& places, std::string_view text, bool spans_segments) {
  Places after = places;
  for (size_t i = 0; i < text.size(); ++i) {
    if (after[i] && (spans_segments || text[i] != '/')) after.set(i + 1);
  }
  return after;
}

Places AfterFolders(const Places& places, std::string_view text) {
  Places after = places;
  bool has_begun = false;
  for (size_t i = 0; i < text.size(); ++i) {
    has_begun = has_begun || places[i];
    if (has_begun && text[i] == '/') after.set(i + 1);
  }
  return after;
}

bool MatchesGlob(std::string_view glob, std::string_view text) {
  if (text.size() > kFilePathBytesMax) return false;
  Places places;
  places.set(0);
  while (!glob.empty() && places.any()) {
    size_t bytes = 1;
    if (glob.starts_with("**/")) {
      bytes = 3;
      places = AfterFolders(places, text);
    } else if (glob.starts_with("**")) {
      bytes = 2;
      places = AfterStar(places, text, true);
    } else if (glob.front() == '*') {
      places = AfterStar(places, text, false);
    } else {
      places = AfterByte(places, text, glob.front());
    }
    glob.remove_prefix(bytes);
  }
  return glob.empty() && places[text.size()];
}

}  // namespace

bool IsRuleFor(const HeaderRule& rule, std::string_view path) {
  const std::string_view name = LastSegment(path);
  if (rule.pattern.starts_with('.')) {
    return name.size() > rule.pattern.size() && name.ends_with(rule.pattern);
  }
  const bool has_folders = rule.pattern.find('/') != std::string::npos;
  return MatchesGlob(rule.pattern, has_folders ? path : name);
}

}  // namespace httpsys::static_files
