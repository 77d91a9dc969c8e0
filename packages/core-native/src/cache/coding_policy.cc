#include "cache/coding_policy.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "semantics/cache_control.h"
#include "semantics/list_members.h"

namespace httpsys::cache {
namespace {

using semantics::CodingSet;
using semantics::ContentCoding;

constexpr std::array kCodings = {ContentCoding::kBr, ContentCoding::kZstd, ContentCoding::kGzip};

bool IsOneOfNames(std::string_view text, std::span<const std::string_view> lower) {
  return std::any_of(lower.begin(), lower.end(),
                     [=](std::string_view one) { return EqualsIgnoringCase(text, one); });
}

bool EndsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         EqualsIgnoringCase(text.substr(text.size() - lower.size()), lower);
}

// True for fields that forbid a compressed variant: they describe the bytes of the plain content,
// or show that it is compressed already.
bool ForbidsCoding(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"content-encoding", "content-range", "content-md5", "digest",
                                       "content-digest", "repr-digest", "signature"});
  return IsOneOfNames(name, kNames);
}

// Returns the value of Accept-Encoding. `joined` is the memory for several joined lines.
std::optional<std::string_view> AcceptEncoding(const http1::RequestHead& head,
                                               std::string* joined) {
  std::optional<std::string_view> value;
  for (const http1::HeaderLine& line : head.lines) {
    if (!EqualsIgnoringCase(line.name, "accept-encoding")) continue;
    if (value.has_value()) {
      std::string both(*value);
      both.append(", ").append(line.value);
      joined->swap(both);
      value = *joined;
    } else {
      value = line.value;
    }
  }
  return value;
}

}  // namespace

uint32_t CodingBits(CodingSet codings) {
  uint32_t bits = 0;
  for (const ContentCoding coding : kCodings) {
    if (codings.Has(coding)) bits |= 1u << static_cast<uint32_t>(coding);
  }
  return bits;
}

CodingSet CodingsOf(uint32_t bits) {
  CodingSet codings;
  for (const ContentCoding coding : kCodings) {
    if ((bits >> static_cast<uint32_t>(coding) & 1) != 0) codings.Add(coding);
  }
  return codings;
}

bool IsCompressible(std::string_view content_type) {
  const std::string_view type = semantics::Trim(content_type.substr(0, content_type.find(';')));
  // Event streams are not compressed: clients read events as they come, and an encoder would delay
  // them.
  if (EqualsIgnoringCase(type, "text/event-stream")) return false;
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"application/ecmascript", "application/javascript", "application/json", "application/rtf",
       "application/vnd.ms-fontobject", "application/wasm", "application/x-javascript",
       "application/x-ndjson", "application/xml", "application/yaml", "font/otf", "font/ttf",
       "image/bmp", "image/vnd.microsoft.icon", "image/x-icon"});
  return StartsIgnoringCase(type, "text/") || EndsIgnoringCase(type, "+json") ||
         EndsIgnoringCase(type, "+xml") || EndsIgnoringCase(type, "+yaml") ||
         IsOneOfNames(type, kTypes);
}

uint32_t CodingFlags(const RequestFacts& request, std::span<const http1::HeaderLine> lines,
                     CodingSet codings) {
  // The response to a request with credentials may contain secrets, which compression could reveal.
  if (codings == CodingSet() || request.has_cookie || request.has_authorization) return 0;
  bool is_compressible = false;
  bool names_encoding = false;
  semantics::CacheControl control;
  for (const auto& [name, value] : lines) {
    if (ForbidsCoding(name)) return 0;
    if (EqualsIgnoringCase(name, "content-type")) {
      is_compressible = IsCompressible(value);
    } else if (EqualsIgnoringCase(name, "cache-control") ||
               EqualsIgnoringCase(name, "cdn-cache-control")) {
      // The directive no-transform has the same form in CDN-Cache-Control and Cache-Control.
      semantics::ReadCacheControl(value, &control);
    } else if (EqualsIgnoringCase(name, "vary")) {
      std::string_view member;
      for (semantics::ListMembers members(value); members.Next(&member);) {
        names_encoding = names_encoding || EqualsIgnoringCase(member, "accept-encoding");
      }
    }
  }
  if (!is_compressible || control.no_transform) return 0;
  const uint32_t vary = names_encoding ? 0 : uint32_t{EntryTerms::kVariesByCoding};
  return CodingBits(codings) << EntryTerms::kCodingsShift | vary;
}

ContentCoding CodingFor(const EntryTerms& terms, CodingSet allowed, const RequestFacts& request,
                        const http1::RequestHead& head) {
  const CodingSet codings =
      CodingsOf(terms.flags >> EntryTerms::kCodingsShift & CodingBits(allowed));
  if (codings == CodingSet() || request.has_cookie || request.has_authorization ||
      request.has_range || request.control.no_transform) {
    return ContentCoding::kIdentity;
  }
  std::string joined;
  return semantics::ChooseCoding(AcceptEncoding(head, &joined), codings)
      .value_or(ContentCoding::kIdentity);
}

void MakeCodedKey(ContentCoding coding, std::string* key) {
  key->append("\n*").append(semantics::CodingName(coding));
}

}  // namespace httpsys::cache
