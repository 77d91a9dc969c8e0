#include "cache/cache_key.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "cache/request_facts.h"

namespace httpsys::cache {
namespace {

// Separates the parts of a key; neither field values nor targets contain a line end.
constexpr char kPartEnd = '\n';

std::string_view TakePart(std::string_view* text) {
  const size_t end = text->find(kPartEnd);
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return part;
}

}  // namespace

bool MakeKey(const KeyScope& scope, const http1::RequestHead& head, std::string* key) {
  std::array<char, std::numeric_limits<uint32_t>::digits10 + 1> digits;
  char* const digits_end = std::to_chars(digits.begin(), digits.end(), scope.port).ptr;
  // The sum is a letter, the digits of the port, and a line end on each side of the host. Written
  // at once, because each call of std::string costs more than the bytes that it appends.
  const auto digit_count = static_cast<size_t>(digits_end - digits.data());
  key->resize(digit_count + head.host.size() + head.target.size() + 3);
  char* to = key->data();
  *to++ = scope.is_secure ? 's' : 'h';
  to = std::copy(digits.data(), digits_end, to);
  *to++ = kPartEnd;
  to = std::copy(head.host.begin(), head.host.end(), to);
  *to++ = kPartEnd;
  std::copy(head.target.begin(), head.target.end(), to);
  for (const auto& [name, value] : head.lines) {
    if (!IsForwardingField(name)) continue;
    key->push_back(kPartEnd);
    for (const char c : name) key->push_back(LowerCase(c));
    key->push_back(':');
    key->append(value);
    // Stop early: a long head must not cost memory.
    if (key->size() > kKeyBytesMax) return false;
  }
  return key->size() <= kKeyBytesMax;
}

bool SplitKey(std::string_view key, KeyParts* parts) {
  const std::string_view scope = TakePart(&key);
  if (scope.size() < 2 || (scope[0] != 's' && scope[0] != 'h')) return false;
  const auto [end, error] =
      std::from_chars(scope.data() + 1, scope.data() + scope.size(), parts->scope.port);
  if (error != std::errc() || end != scope.data() + scope.size()) return false;
  parts->scope.is_secure = scope[0] == 's';
  if (key.find(kPartEnd) == std::string_view::npos) return false;
  parts->host = TakePart(&key);
  parts->target = TakePart(&key);
  return !parts->target.empty();
}

std::string_view OriginForm(std::string_view target) {
  if (target.starts_with('/')) return target;
  const size_t scheme_end = target.find("://");
  if (scheme_end == std::string_view::npos) return target;
  const size_t path = target.find_first_of("/?", scheme_end + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

std::string KeyForTarget(std::string_view key, std::string_view target) {
  std::string_view rest = key;
  (void)TakePart(&rest);
  (void)TakePart(&rest);
  std::string other(key.substr(0, key.size() - rest.size()));
  other.append(target);
  const size_t end = rest.find(kPartEnd);
  if (end != std::string_view::npos) other.append(rest.substr(end));
  return other;
}

}  // namespace httpsys::cache
