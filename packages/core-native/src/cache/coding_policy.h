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

// Shorter bodies fit into one packet anyway.
inline constexpr size_t kCodedBytesMin = 1024;
// Bytes that a variant has to save, because its head is longer than that of the plain response.
inline constexpr size_t kCodedGainMin = 64;

// All of EntryTerms::flags that are about codings.
inline constexpr uint32_t kCodingFlags =
    EntryTerms::kVariesByCoding | 7u << EntryTerms::kCodingsShift;

// Numbers of CodingSet: bits by ContentCoding, without identity.
[[nodiscard]] uint32_t CodingBits(semantics::CodingSet codings);
[[nodiscard]] semantics::CodingSet CodingsOf(uint32_t bits);

// Returns true for types of which encoders take much off: texts, and formats that are not
// compressed themselves. `content_type` is the value of the field, with or without parameters.
[[nodiscard]] bool IsCompressible(std::string_view content_type);

// Returns what the terms of a response to this request say about codings, as EntryTerms::flags:
// nothing if the response must not be compressed. `lines` are the fields of the response.
// Thread: any. Allocates nothing.
[[nodiscard]] uint32_t CodingFlags(const RequestFacts& request,
                                   std::span<const http1::HeaderLine> lines,
                                   semantics::CodingSet codings);

// Returns the coding in which a request gets the entry, if there is such a variant. A request with
// credentials gets the plain response: the length of a compressed one can tell what is in it
// (BREACH). So does a request for ranges, which count the bytes of the plain body, and one with
// `no-transform`. `allowed` are the codings of the server. The terms may come from another process.
[[nodiscard]] semantics::ContentCoding CodingFor(const EntryTerms& terms,
                                                 semantics::CodingSet allowed,
                                                 const RequestFacts& request,
                                                 const http1::RequestHead& head);

// Replaces the key of an entry by that of its variant in a coding. The key of no plain entry has
// such a line: they begin with the name of a field, `?`, `+` or `-`.
void MakeCodedKey(semantics::ContentCoding coding, std::string* key);

// Returns true if a variant with these terms was made from the entry with those, and not from
// another one that had the same key before.
constexpr bool IsVariantOf(const EntryTerms& coded, const EntryTerms& plain) {
  return coded.stamp == plain.stamp && coded.stored_ms == plain.stored_ms;
}

}  // namespace httpsys::cache
