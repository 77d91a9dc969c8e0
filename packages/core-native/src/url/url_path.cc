#include "url/url_path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace httpsys {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Returns the byte of the %XX escape at the beginning of `text`, or -1.
int EscapedByte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = HexValue(text[1]);
  const int low = HexValue(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Returns the length of the UTF-8 sequence that begins with `lead`; 0 if no sequence does.
size_t SequenceBytes(int lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Returns true if `second` may follow `lead`. Other second bytes would make the sequence overlong,
// a surrogate or larger than U+10FFFF.
bool IsSecondByte(int lead, int second) {
  if ((second & 0xC0) != 0x80) return false;
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

// Reads characters of UTF-8 byte by byte.
class Utf8 {
 public:
  // Adds a byte. Returns false if it is invalid here; then no further byte may be added.
  [[nodiscard]] bool Add(int byte) {
    if (left_ == 0) {
      const size_t bytes = SequenceBytes(byte);
      if (bytes == 0) return false;
      left_ = bytes - 1;
      lead_ = byte;
      is_second_ = true;
      return true;
    }
    --left_;
    return std::exchange(is_second_, false) ? IsSecondByte(lead_, byte) : (byte & 0xC0) == 0x80;
  }
  // True if no character is incomplete.
  bool is_whole() const { return left_ == 0; }

 private:
  size_t left_ = 0;
  int lead_ = 0;
  bool is_second_ = false;
};

// Decodes the escaped character at the beginning of `text`, and appends it to `out`. Returns the
// number of its bytes in `text`; 0 if there is no such character.
size_t DecodeCharacter(std::string_view text, std::string* out) {
  Utf8 utf8;
  char sequence[4];
  size_t bytes = 0;
  do {
    const int next = EscapedByte(text.substr(bytes * 3));
    if (next < 0 || (next == '/' && bytes == 0) || !utf8.Add(next)) return 0;
    sequence[bytes++] = static_cast<char>(next);
  } while (!utf8.is_whole());
  out->append(sequence, bytes);
  return bytes * 3;
}

std::string PercentDecode(std::string_view path) {
  std::string out;
  out.reserve(path.size() + 1);
  while (!path.empty()) {
    size_t taken = DecodeCharacter(path, &out);
    if (taken == 0) {
      out.push_back(path[0]);
      taken = 1;
    }
    path.remove_prefix(taken);
  }
  return out;
}

// Returns the UTF-16 unit of the %uXXXX escape at the beginning of `text`, or -1.
int EscapedUnit(std::string_view text) {
  if (text.size() < 6 || text[1] != 'u') return -1;
  int unit = 0;
  for (const char c : text.substr(2, 4)) {
    const int digit = HexValue(c);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool IsControl(int character) { return character < 0x20 || character == 0x7F; }

bool IsWindows1252(int byte) {
  return byte != 0x81 && byte != 0x8D && byte != 0x8F && byte != 0x90 && byte != 0x9D;
}

// Returns the number of UTF-16 units in the first segment of `path`, and sets `end` to its end. If
// the escapes are not UTF-8, each counts as one character of the system's code page.
size_t UnitsOfSegment(std::string_view path, bool is_utf8, size_t* end) {
  size_t units = 0;
  size_t at = 0;
  while (at < path.size() && path[at] != '/') {
    const int byte = EscapedByte(path.substr(at));
    if (path[at] != '%' || byte < 0) {
      units += 1;
      // An escape that is not %XX is HTTP.SYS' %u with four hexadecimal digits: one UTF-16 unit.
      at += path[at] == '%' ? 6 : 1;
      continue;
    }
    const size_t bytes = is_utf8 ? SequenceBytes(byte) : 1;
    units += bytes == 4 ? 2 : 1;
    at += 3 * bytes;
  }
  *end = at;
  return units;
}

// Returns true if the number of segments and their lengths are within HTTP.SYS' limits. All escapes
// in `path` must be complete.
bool HasStrictSegments(std::string_view path, bool is_utf8) {
  // A path that is this short, as nearly all are, cannot exceed a limit.
  if (path.size() <= std::min(kUrlSegmentUnitsMax, kUrlSegmentsMax)) return true;
  size_t segments = 0;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    size_t end = 0;
    if (UnitsOfSegment(path, is_utf8, &end) > kUrlSegmentUnitsMax) return false;
    path.remove_prefix(end);
    // A final slash begins no segment.
    if (end != 0 || !path.empty()) segments += 1;
  }
  return segments <= kUrlSegmentsMax;
}

bool IsStrictPath(std::string_view path) {
  Utf8 utf8;
  bool is_utf8 = true;
  bool is_windows_1252 = true;
  size_t end = 0;  // The end of the previous escape.
  for (size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', end)) {
    const std::string_view rest = path.substr(at);
    const int byte = EscapedByte(rest);
    const int character = byte >= 0 ? byte : EscapedUnit(rest);
    if (character < 0 || IsControl(character)) return false;
    // A character is incomplete, and no %XX escape follows.
    if (!utf8.is_whole() && (at != end || byte < 0)) is_utf8 = false;
    if (byte >= 0) {
      is_utf8 = is_utf8 && utf8.Add(byte);
      is_windows_1252 = is_windows_1252 && IsWindows1252(byte);
    }
    end = at + (byte >= 0 ? 3 : 6);
  }
  is_utf8 = is_utf8 && utf8.is_whole();
  return (is_utf8 || is_windows_1252) && HasStrictSegments(path, is_utf8);
}

// Implements RFC 3986, section 5.2.4, in place: the result is never longer than the input so far.
void RemoveDotSegments(std::string* path) {
  std::string& p = *path;
  size_t kept = 0;  // The end of the result: before the slash of the current segment.
  for (size_t at = 0; at < p.size();) {
    size_t end = p.find('/', at + 1);
    if (end == std::string::npos) end = p.size();
    const std::string_view segment = std::string_view(p).substr(at + 1, end - at - 1);
    const bool last = end == p.size();
    if (segment == "." || segment == "..") {
      if (segment == ".." && kept > 0) kept = p.rfind('/', kept - 1);
      if (last) p[kept++] = '/';
    } else {
      kept = static_cast<size_t>(std::copy(&p[at], &p[0] + end, &p[kept]) - &p[0]);
    }
    at = end;
  }
  p.resize(kept);
}

// Folds a code point from U+0080 to U+07FF by the simple foldings of Unicode's CaseFolding.txt.
uint32_t FoldCodePoint(uint32_t c) {
  if (c == 0xB5) return 0x3BC;                                  // Micro sign: Greek mu.
  if (c >= 0xC0 && c <= 0xDE) return c == 0xD7 ? c : c + 0x20;  // Latin-1.
  if ((c >= 0x100 && c <= 0x12F) || (c >= 0x132 && c <= 0x137)) return c | 1;  // Extended-A.
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c + (c & 1);
  if (c >= 0x14A && c <= 0x177) return c | 1;
  if (c == 0x178) return 0xFF;
  if (c == 0x386) return 0x3AC;  // Greek with tonos, then plain.
  if (c >= 0x388 && c <= 0x38A) return c + 0x25;
  if (c == 0x38C) return 0x3CC;
  if (c == 0x38E || c == 0x38F) return c + 0x3F;
  if (c >= 0x391 && c <= 0x3AB) return c == 0x3A2 ? c : c + 0x20;
  if (c == 0x3C2) return 0x3C3;                   // Final sigma.
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;  // Cyrillic.
  if (c >= 0x410 && c <= 0x42F) return c + 0x20;
  return c;
}

}  // namespace

bool IsPlainPath(std::string_view path) {
  char before = 0;
  for (const char c : path) {
    if (c == '%' || (c == '.' && before == '/')) return false;
    before = c;
  }
  return true;
}

std::string DecodePath(std::string_view path) {
  std::string decoded = PercentDecode(path);
  RemoveDotSegments(&decoded);
  return decoded;
}

bool HasOnlyUtf8Escapes(std::string_view path) {
  Utf8 utf8;
  for (size_t at = 0; at < path.size();) {
    if (path[at] != '%') {
      if (!utf8.is_whole()) return false;
      at += 1;
      continue;
    }
    const int byte = EscapedByte(path.substr(at));
    if (byte < 0 || !utf8.Add(byte)) return false;
    at += 3;
  }
  return utf8.is_whole();
}

TargetParts SplitTarget(std::string_view target) {
  TargetParts parts;
  if (!target.starts_with('/')) {
    const size_t scheme = target.find("://");
    // A "://" within a query does not make a target absolute.
    const bool is_absolute =
        scheme != std::string_view::npos && target.find_first_of("/?#") > scheme;
    if (!is_absolute) {
      parts.path = "/";
      return parts;
    }
    parts.is_absolute = true;
    target.remove_prefix(scheme + 3);
    const size_t end = std::min(target.find_first_of("/?#"), target.size());
    parts.authority = target.substr(0, end);
    target.remove_prefix(end);
    parts.is_pathless_query = target.starts_with('?');
  }
  parts.path = target.substr(0, target.find_first_of("?#"));
  if (parts.path.empty()) parts.path = "/";
  return parts;
}

bool IsStrictTarget(std::string_view target) {
  // Check text after an asterisk like a path: HTTP.SYS reads it as part of the URL.
  if (target.starts_with('*')) return IsStrictPath(target.substr(0, target.find_first_of("?#")));
  const TargetParts parts = SplitTarget(target);
  return !parts.is_pathless_query && IsStrictPath(parts.path);
}

void FoldCase(char* text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead >= 'A' && lead <= 'Z') {
      text[i] = static_cast<char>(lead + ('a' - 'A'));
    } else if (lead >= 0xC2 && lead <= 0xDF && i + 1 < bytes) {
      const auto second = static_cast<uint8_t>(text[i + 1]);
      if ((second & 0xC0) != 0x80) continue;
      const uint32_t folded = FoldCodePoint((lead & 0x1Fu) << 6 | (second & 0x3Fu));
      text[i] = static_cast<char>(0xC0 | folded >> 6);
      text[++i] = static_cast<char>(0x80 | (folded & 0x3F));
    }
  }
}

}  // namespace httpsys
