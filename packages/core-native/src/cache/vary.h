#pragma once
// Variants of one URL (RFC 9111, section 4.1): the request fields on which a stored response
// depends, and their values in a request.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http1/header_line.h"

namespace httpsys::cache {

// Maximum number of names of one response, and maximum bytes of the names with their separators.
// Real applications name one to five fields.
inline constexpr size_t kVaryNamesMax = 16;
inline constexpr size_t kVaryBytesMax = 512;
// Maximum number of variants of one URL; a new one displaces the oldest. Without a limit, one URL
// could fill the cache, because clients choose the values.
inline constexpr size_t kVariantsMax = 16;
// Maximum number of VaryRecords to follow to a variant: the record of the URL, and a second one for
// responses that name further fields.
inline constexpr size_t kVaryDepthMax = 2;

// The field names of all Vary lines of a response, in lower case, sorted, each once. Allocates
// nothing. Thread: any, one at a time.
class VaryNames {
 public:
  void Add(std::string_view value);
  // Reads another object's text(). Returns false if `text`, perhaps hostile, is malformed.
  [[nodiscard]] bool Assign(std::string_view text);

  bool is_empty() const { return bytes_ == 0 && !is_star_ && !is_broken_; }
  // True if a Vary field is `*`: the response depends on more than fields.
  bool is_star() const { return is_star_; }
  // True if a name is no token, or the names exceed the limits.
  bool is_broken() const { return is_broken_; }
  // True if the response depends on the user: Cookie, Authorization, Proxy-Authorization.
  bool has_credentials() const { return has_credentials_; }

  // Returns true if `name` is one of the names; case does not matter.
  bool Contains(std::string_view name) const;

  std::string_view text() const { return {names_.data(), bytes_}; }

  // Appends the values of the named fields in a request to `key`; requests get the same text
  // exactly if they select the same variant. For each name it appends a line end, then `-` if the
  // request does not have the field, otherwise `+` and the trimmed value of its first line. Each
  // further line adds a line end, `,` and its trimmed value: `a` and `b` on two lines differ from
  // `a, b` on one, because applications read only the first line of many fields, as Node does of
  // User-Agent. Lines of Accept-Language, Accept-Encoding and Accept-Charset are joined with `,`
  // instead, as Node does, without regard to case and to white space around separators, which have
  // no meaning there (RFC 9111, section 4.1). `lines` come from a http1::RequestHead, whose values
  // have no line ends.
  void AppendValues(std::span<const http1::HeaderLine> lines, std::string* key) const;

 private:
  void Insert(std::string_view name);

  std::array<char, kVaryBytesMax> names_{};
  size_t bytes_ = 0;
  size_t count_ = 0;
  bool is_star_ = false;
  bool is_broken_ = false;
  bool has_credentials_ = false;
};

// The record under the key of a URL whose responses vary: the field names, and the existing
// variants. Each variant is a separate entry, under the key that MakeVariantKey() makes. If the
// response of a variant names further fields, a second record replaces the variant, with the names
// of both. Each new record has another epoch, which makes the variants of earlier records
// unreachable: one store into the index invalidates all of them. Allocates nothing. Thread: any,
// one at a time.
class VaryRecord {
 public:
  static constexpr size_t kBytesMax = 16 + kVariantsMax * 8 + kVaryBytesMax;

  VaryRecord() = default;
  VaryRecord(const VaryNames& names, uint64_t epoch) : names_(names), epoch_(epoch) {}

  const VaryNames& names() const { return names_; }
  uint64_t epoch() const { return epoch_; }
  std::span<const uint64_t> variants() const { return {variants_.data(), count_}; }

  // Adds a variant by the hash of its key, as the newest. Returns the displaced one's hash, or 0.
  uint64_t Add(uint64_t variant);

  // Appends to `key`, the key of the URL, to make the key of the variant that a request selects.
  void MakeVariantKey(std::span<const http1::HeaderLine> lines, std::string* key) const;

  // Encodes the record for other processes of this machine. Returns its size.
  size_t Encode(std::span<char, kBytesMax> memory) const;
  // Decodes a record. Returns false if `bytes`, which may come from another process, is none.
  [[nodiscard]] bool Decode(std::string_view bytes);

 private:
  VaryNames names_;
  uint64_t epoch_ = 0;
  std::array<uint64_t, kVariantsMax> variants_{};  // Oldest first.
  size_t count_ = 0;
};

}  // namespace httpsys::cache
