#pragma once
// Compresses texts by the content codings of HTTP (RFC 9110, 8.4.1; RFC 7932; RFC 8878).

#include <cstddef>
#include <string>
#include <string_view>

#include "semantics/content_coding.h"

namespace httpsys::encoders {

// Compression levels. Each takes about 1 ms for 100 KB, and saves nearly as many bytes as levels
// that take ten times as long.
inline constexpr int kBrotliQuality = 5;
inline constexpr int kZstdLevel = 3;
inline constexpr int kGzipLevel = 6;

// Returns the codings whose encoders the running program has, without identity. Thread: any.
[[nodiscard]] semantics::CodingSet AvailableCodings();

// Returns the text in this coding; empty if the result would exceed `bytes_max`, the program lacks
// the encoder, or memory is short. Takes milliseconds: not for lanes. Thread: any.
[[nodiscard]] std::string Encode(semantics::ContentCoding coding, std::string_view text,
                                 size_t bytes_max);

}  // namespace httpsys::encoders
