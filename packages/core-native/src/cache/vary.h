#pragma once
// Variants of one URL (RFC 9111, section 4.1): which fields of a request a stored response depends
// on, and what a request has in them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http1/header_line.h"

namespace httpsys::cache {

// Most names of one response, and bytes of all of them with their separators. Responses of real
// applications name one to five fields.
inline constexpr size_t kVaryNamesMax = 16;
inline constexpr size_t kVaryBytesMax = 512;
// Most variants of one URL; the oldest leaves. Clients choose the values, so that without a limit
// one URL could fill the cache.
inline constexpr size_t kVariantsMax = 16;
// Most records on the way to a variant: that of the URL, and one for responses that name further
// fields.
inline constexpr size_t kVaryDepthMax = 2;

// The field names of all Vary lines of a response, in lower case, sorted, each once. Allocates
// nothing. Thread: any, one at a time.
class VaryNames {
 public:
  // Adds one Vary line.
  void Add(std::string_view value);
  // Reads a text() of another object, which may come from another process. Returns false if the
  // text is none.
  [[nodiscard]] bool Assign(std::string_view text);

  bool is_empty() const { return bytes_ == 0 && !is_star_ && !is_broken_; }
  // True if the response depends on more than fields: `*`.
  bool is_star() const { return is_star_; }
  // True if some name is no token, or if there are more names than the limits allow.
  bool is_broken() const { return is_broken_; }
  // True if the response depends on who asks: Cookie, Authorization, Proxy-Authorization.
  bool has_credentials() const { return has_credentials_; }

  // Returns true if `name` is one of the names, in whichever case.
  bool Contains(std::string_view name) const;

  // The names, joined with commas.
  std::string_view text() const { return {names_.data(), bytes_}; }

  // Adds what a request has in the named fields to `key`: for each name a line end, then `-` if the
  // request does not have the field, otherwise `+` and the trimmed value of its first line. Each
  // further line adds a line end, `,` and its trimmed value: `a` and `b` on two lines are not
  // `a, b` on one, because of many fields applications read the first line only, as Node does of
  // User-Agent. Lines of Accept-Language, Accept-Encoding and Accept-Charset are joined with `,`
  // instead, and their case and their white space around separators make no difference: none of it
  // has a meaning there (RFC 9111, section 4.1), and Node joins the lines, too. Two requests get
  // the same text exactly if they select the same variant. `lines` are those of
  // http1::RequestHead, whose values have no line ends.
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

// What is stored under the key of a URL whose responses vary: the names, and the variants that
// exist. Each variant is an entry of its own, under the key of the URL with the text of VariantKey.
// If the response of a variant names further fields, a record of its own stands in place of the
// variant, with the names of both. Another epoch for each new record makes the variants of earlier
// ones unreachable, so that one store into the index invalidates all of them. Allocates nothing.
// Thread: any, one at a time.
class VaryRecord {
 public:
  static constexpr size_t kBytesMax = 16 + kVariantsMax * 8 + kVaryBytesMax;

  VaryRecord() = default;
  VaryRecord(const VaryNames& names, uint64_t epoch) : names_(names), epoch_(epoch) {}

  const VaryNames& names() const { return names_; }
  uint64_t epoch() const { return epoch_; }
  std::span<const uint64_t> variants() const { return {variants_.data(), count_}; }

  // Notes a variant by the hash of its key, as the newest one. Returns the hash of the variant that
  // leaves for it, or 0.
  uint64_t Add(uint64_t variant);

  // Makes of `key`, the key of the URL, the key of the variant that a request selects, which begins
  // with the key of the URL.
  void MakeVariantKey(std::span<const http1::HeaderLine> lines, std::string* key) const;

  // Writes the record for another process of this machine. Returns its size.
  size_t Encode(std::span<char, kBytesMax> memory) const;
  // Reads a record, which may be any bytes. Returns false if it is none.
  [[nodiscard]] bool Decode(std::string_view bytes);

 private:
  VaryNames names_;
  uint64_t epoch_ = 0;
  std::array<uint64_t, kVariantsMax> variants_{};  // From the oldest to the newest.
  size_t count_ = 0;
};

}  // namespace httpsys::cache
