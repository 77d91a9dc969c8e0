#include "semantics/content_coding.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii.h"
#include "semantics/list_members.h"

namespace httpsys::semantics {
namespace {

constexpr std::array<std::string_view, kContentCodings> kCodingNames = {"br", "zstd", "gzip",
                                                                        "identity"};

// A q value in thousandths.
using Weight = int;
constexpr Weight kFullWeight = 1000;
// Weight of an unmentioned identity: below any weight that a client can name, but not refused.
constexpr Weight kImpliedWeight = 0;
constexpr Weight kRefused = -1;

// Reads `0` or `1`, with or without a point and at most three digits. Returns nothing for any other
// text and for values above 1.
std::optional<Weight> ParseWeight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  Weight weight = text[0] - '0';
  for (size_t at = 2; at < 5; ++at) {
    const char digit = at < text.size() ? text[at] : '0';
    if (!IsDigit(digit)) return std::nullopt;
    weight = weight * 10 + (digit - '0');
  }
  if (weight > kFullWeight) return std::nullopt;
  return weight;
}

struct AcceptedCoding {
  std::string_view name;
  Weight weight = kFullWeight;  // kRefused for `q=0`.
};

std::optional<AcceptedCoding> ParseAcceptedCoding(std::string_view member) {
  const size_t semicolon = member.find(';');
  AcceptedCoding coding{Trim(member.substr(0, semicolon))};
  if (semicolon == std::string_view::npos) return coding;
  const std::string_view parameter = TrimStart(member.substr(semicolon + 1));
  if (parameter.size() < 2 || LowerCase(parameter[0]) != 'q' || parameter[1] != '=') {
    return std::nullopt;
  }
  const std::optional<Weight> weight = ParseWeight(parameter.substr(2));
  if (!weight.has_value()) return std::nullopt;
  coding.weight = *weight == 0 ? kRefused : *weight;
  return coding;
}

// Returns the index of a coding's name, kContentCodings for `*`, or nothing if it is unknown.
std::optional<size_t> FindCoding(std::string_view name) {
  if (name == "*") return kContentCodings;
  if (EqualsIgnoringCase(name, "x-gzip")) return static_cast<size_t>(ContentCoding::kGzip);
  for (size_t i = 0; i < kContentCodings; ++i) {
    if (EqualsIgnoringCase(name, kCodingNames[i])) return i;
  }
  return std::nullopt;
}

// Weights of the codings by index, then the weight of `*`. Nothing = not in the field.
using Weights = std::array<std::optional<Weight>, kContentCodings + 1>;

Weights ReadWeights(std::string_view accept_encoding) {
  Weights weights;
  ListMembers members(accept_encoding);
  std::string_view member;
  while (members.Next(&member)) {
    const std::optional<AcceptedCoding> coding = ParseAcceptedCoding(member);
    if (!coding.has_value()) continue;
    const std::optional<size_t> index = FindCoding(coding->name);
    if (!index.has_value()) continue;
    std::optional<Weight>& weight = weights[*index];
    weight = std::min(weight.value_or(coding->weight), coding->weight);
  }
  return weights;
}

}  // namespace

std::string_view CodingName(ContentCoding coding) {
  return kCodingNames[static_cast<size_t>(coding)];
}

std::optional<ContentCoding> ChooseCoding(std::optional<std::string_view> accept_encoding,
                                          CodingSet available) {
  if (!accept_encoding.has_value()) return ContentCoding::kIdentity;
  available.Add(ContentCoding::kIdentity);
  const Weights weights = ReadWeights(*accept_encoding);
  std::optional<ContentCoding> best;
  Weight best_weight = kRefused;
  for (size_t i = 0; i < kContentCodings; ++i) {
    const auto coding = static_cast<ContentCoding>(i);
    if (!available.Has(coding)) continue;
    const Weight unnamed = coding == ContentCoding::kIdentity ? kImpliedWeight : kRefused;
    const Weight weight = weights[i].value_or(weights[kContentCodings].value_or(unnamed));
    if (weight <= best_weight) continue;
    best = coding;
    best_weight = weight;
  }
  return best;
}

}  // namespace httpsys::semantics
