#pragma once
// Decides which stored responses get compressed variants, and which requests get variants.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cache/freshness.h"
#include "cache/request_facts.h"
#include "http1/header_line.h"
#include "http1/request_parser.h"
#include "semantics/content_coding.h"

namespace httpsys::cache {

// Minimum size of a body that is compressed: smaller ones fit into one packet anyway.
inline constexpr size_t kCodedBytesMin = 1024;
// Bytes that a compressed body must save at least, because the variant's head is longer.
inline constexpr size_t kCodedGainMin = 64;

// All bits of EntryTerms::flags that concern content codings.
inline constexpr uint32_t kCodingFlags =
    EntryTerms::kVariesByCoding | 7u << EntryTerms::kCodingsShift;

// Convert a CodingSet to a number and back: one bit for each ContentCoding but identity.
[[nodiscard]] uint32_t CodingBits(semantics::CodingSet codings);
[[nodiscard]] semantics::CodingSet CodingsOf(uint32_t bits);

// Returns true for types that compress well: texts, and formats without compression of their own.
// `content_type` may have parameters.
[[nodiscard]] bool IsCompressible(std::string_view content_type);

// Returns the EntryTerms::flags about content codings for a response to this request; 0 if the
// response must not be compressed. `lines` are the fields of the response.
// Thread: any. Allocates nothing.
[[nodiscard]] uint32_t CodingFlags(const RequestFacts& request,
                                   std::span<const http1::HeaderLine> lines,
                                   semantics::CodingSet codings);

// Returns the coding in which a request may get the entry, if that variant exists. Requests with
// credentials get the plain response, because the length of a compressed one can reveal its
// contents (BREACH); so do requests for ranges, which count bytes of the plain body, or with
// `no-transform`. `allowed` are the codings of the server. The terms may come from another process.
[[nodiscard]] semantics::ContentCoding CodingFor(const EntryTerms& terms,
                                                 semantics::CodingSet allowed,
                                                 const RequestFacts& request,
                                                 const http1::RequestHead& head);

// Turns the key of an entry into the key of its variant in a coding, by appending a line that
// begins with `*`. Lines of other keys begin with a field name, `?`, `+`, `-` or `,`.
void MakeCodedKey(semantics::ContentCoding coding, std::string* key);

// Returns true if the variant with the terms `coded` was made from the entry with the terms
// `plain`, not from an earlier entry with the same key.
constexpr bool IsVariantOf(const EntryTerms& coded, const EntryTerms& plain) {
  return coded.stamp == plain.stamp && coded.stored_ms == plain.stored_ms;
}

}  // namespace httpsys::cache
