#include "cache/vary.h"

#include <algorithm>
#include <cstring>

#include "base/ascii.h"
#include "http1/char_class.h"
#include "semantics/list_members.h"

namespace httpsys::cache {
namespace {

bool IsFieldName(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return http1::HasClass(c, http1::kTokenChar); });
}

// Compares two names without regard to case. Returns a negative number, 0 or a positive one.
int CompareNames(std::string_view a, std::string_view b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const char x = LowerCase(a[i]);
    const char y = LowerCase(b[i]);
    if (x != y) return x < y ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// Takes the first name from a list with commas.
std::string_view TakeVaryName(std::string_view* text) {
  const std::string_view name = text->substr(0, text->find(','));
  text->remove_prefix(std::min(name.size() + 1, text->size()));
  return name;
}

bool NamesCredentials(std::string_view name) {
  return EqualsIgnoringCase(name, "cookie") || EqualsIgnoringCase(name, "authorization") ||
         EqualsIgnoringCase(name, "proxy-authorization");
}

// True for fields whose values are lists of tokens without regard to case (RFC 9110, section 12.5).
bool IsTokenList(std::string_view name) {
  return EqualsIgnoringCase(name, "accept-language") ||
         EqualsIgnoringCase(name, "accept-encoding") || EqualsIgnoringCase(name, "accept-charset");
}

// Appends a value in lower case, without white space around commas and semicolons.
void AppendTokens(std::string_view value, std::string* key) {
  bool is_behind_separator = true;
  bool has_space = false;
  for (const char c : value) {
    if (semantics::kWhiteSpace.find(c) != std::string_view::npos) {
      has_space = true;
      continue;
    }
    const bool is_separator = c == ',' || c == ';';
    if (has_space && !is_separator && !is_behind_separator) key->push_back(' ');
    key->push_back(LowerCase(c));
    is_behind_separator = is_separator;
    has_space = false;
  }
}

}  // namespace

void VaryNames::Add(std::string_view value) {
  std::string_view name;
  for (semantics::ListMembers members(value); members.Next(&name);) {
    if (name == "*") {
      is_star_ = true;
    } else if (IsFieldName(name)) {
      Insert(name);
    } else {
      is_broken_ = true;
    }
  }
}

void VaryNames::Insert(std::string_view name) {
  has_credentials_ = has_credentials_ || NamesCredentials(name);
  size_t at = 0;
  for (std::string_view rest = text(); !rest.empty();) {
    const std::string_view other = TakeVaryName(&rest);
    const int order = CompareNames(name, other);
    if (order == 0) return;
    if (order < 0) break;
    at += other.size() + 1;
  }
  // Bytes of the name and its separator, which stands before or behind the name.
  const size_t added = name.size() + (bytes_ == 0 ? 0 : 1);
  if (count_ == kVaryNamesMax || bytes_ + added > kVaryBytesMax) {
    is_broken_ = true;
    return;
  }
  const bool is_last = at > bytes_ || bytes_ == 0;
  char* to = names_.data() + std::min(at, bytes_);
  if (is_last) {
    if (bytes_ > 0) *to++ = ',';
  } else {
    std::memmove(to + added, to, bytes_ - at);
    to[name.size()] = ',';
  }
  std::transform(name.begin(), name.end(), to, LowerCase);
  bytes_ += added;
  ++count_;
}

bool VaryNames::Assign(std::string_view text) {
  *this = VaryNames();
  Add(text);
  return !is_star_ && !is_broken_ && this->text() == text;
}

bool VaryNames::Contains(std::string_view name) const {
  for (std::string_view rest = text(); !rest.empty();) {
    if (CompareNames(TakeVaryName(&rest), name) == 0) return true;
  }
  return false;
}

void VaryNames::AppendValues(std::span<const http1::HeaderLine> lines, std::string* key) const {
  for (std::string_view rest = text(); !rest.empty();) {
    const std::string_view name = TakeVaryName(&rest);
    const bool is_token_list = IsTokenList(name);
    bool is_present = false;
    key->push_back('\n');
    for (const http1::HeaderLine& line : lines) {
      if (!EqualsIgnoringCase(line.name, name)) continue;
      key->append(!is_present ? "+" : is_token_list ? "," : "\n,");
      if (is_token_list) {
        AppendTokens(line.value, key);
      } else {
        key->append(semantics::Trim(line.value));
      }
      is_present = true;
    }
    if (!is_present) key->push_back('-');
  }
}

uint64_t VaryRecord::Add(uint64_t variant) {
  const auto end = variants_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto found = std::find(variants_.begin(), end, variant);
  if (found != end) {
    std::rotate(found, found + 1, end);
    return 0;
  }
  uint64_t oldest = 0;
  if (count_ == kVariantsMax) {
    oldest = variants_[0];
    std::rotate(variants_.begin(), variants_.begin() + 1, variants_.end());
    --count_;
  }
  variants_[count_++] = variant;
  return oldest;
}

void VaryRecord::MakeVariantKey(std::span<const http1::HeaderLine> lines, std::string* key) const {
  // The `?` makes the key different from all keys of URLs, in which lines begin with field names.
  key->append("\n?");
  for (int shift = 60; shift >= 0; shift -= 4) {
    key->push_back("0123456789abcdef"[epoch_ >> shift & 15]);
  }
  names_.AppendValues(lines, key);
}

size_t VaryRecord::Encode(std::span<char, kBytesMax> memory) const {
  char* to = memory.data();
  const auto put = [&to](const void* from, size_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  const uint64_t count = count_;
  put(&epoch_, sizeof epoch_);
  put(&count, sizeof count);
  put(variants_.data(), count_ * sizeof variants_[0]);
  put(names_.text().data(), names_.text().size());
  return static_cast<size_t>(to - memory.data());
}

bool VaryRecord::Decode(std::string_view bytes) {
  uint64_t count = 0;
  if (bytes.size() < sizeof epoch_ + sizeof count) return false;
  std::memcpy(&epoch_, bytes.data(), sizeof epoch_);
  std::memcpy(&count, bytes.data() + sizeof epoch_, sizeof count);
  bytes.remove_prefix(sizeof epoch_ + sizeof count);
  if (count > kVariantsMax || bytes.size() < count * sizeof variants_[0]) return false;
  count_ = static_cast<size_t>(count);
  std::memcpy(variants_.data(), bytes.data(), count_ * sizeof variants_[0]);
  return names_.Assign(bytes.substr(count_ * sizeof variants_[0]));
}

}  // namespace httpsys::cache
