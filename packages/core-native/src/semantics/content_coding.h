#pragma once
// Chooses the content coding that a client prefers (RFC 9110, section 12.5.3).

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace httpsys::semantics {

// Codings, in the order that the server prefers if a client accepts several equally: the one with
// the smallest output first, identity (no coding) last.
enum class ContentCoding : uint8_t { kBr, kZstd, kGzip, kIdentity };
inline constexpr uint8_t kContentCodings = 4;

// Returns the name of a coding in Content-Encoding and Accept-Encoding.
[[nodiscard]] std::string_view CodingName(ContentCoding coding);

// A set of codings, such as those in which a server has a representation.
class CodingSet {
 public:
  constexpr CodingSet() = default;
  constexpr CodingSet(std::initializer_list<ContentCoding> codings) {
    for (const ContentCoding coding : codings) Add(coding);
  }

  constexpr void Add(ContentCoding coding) { bits_ |= BitOf(coding); }
  constexpr void Remove(ContentCoding coding) { bits_ &= static_cast<uint8_t>(~BitOf(coding)); }
  [[nodiscard]] constexpr bool Has(ContentCoding coding) const {
    return (bits_ & BitOf(coding)) != 0;
  }
  bool operator==(const CodingSet&) const = default;

 private:
  static constexpr uint8_t BitOf(ContentCoding coding) {
    return static_cast<uint8_t>(1u << static_cast<uint8_t>(coding));
  }

  uint8_t bits_ = 0;
};

// Chooses among the codings of `available` and identity, which is always available. The coding with
// the highest q value wins; of several, the first one in the order of ContentCoding. Without a
// field (nothing) the result is identity: such a client may support no coding. In a field,
// - `*` stands for all codings that the field does not name, including identity;
// - `q=0` refuses a coding; a coding that is neither named nor meant by `*` is refused, too, except
//   identity, which is then the last choice;
// - `x-gzip` is gzip; of several q values for one coding the smallest counts;
// - malformed members are ignored.
// Several lines of the field must be joined with commas. Returns nothing if the client refuses
// identity and everything available; then a server may send identity or answer 406. Allocates
// nothing, and reads each byte once. Thread: any.
[[nodiscard]] std::optional<ContentCoding> ChooseCoding(
    std::optional<std::string_view> accept_encoding, CodingSet available);

}  // namespace httpsys::semantics
