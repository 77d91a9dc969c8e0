#pragma once
// The texts around the parts of a multipart/byteranges response (RFC 9110, section 14.6).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "semantics/byte_ranges.h"
#include "semantics/fixed_text.h"

namespace httpsys::semantics {

// Length of a boundary: 128 random bits in hexadecimal, which no file contains by chance, and which
// no author of a file can guess.
inline constexpr size_t kBoundaryBytes = 32;
using Boundary = FixedText<kBoundaryBytes>;

// Makes a boundary from two random numbers.
[[nodiscard]] Boundary MakeBoundary(uint64_t random_a, uint64_t random_b);

// The texts of one multipart response: for each range a head, to which the sender adds the bytes,
// then the end. `type` and `ranges` must outlive the object. Thread: any.
class MultipartByteranges {
 public:
  // `type` is the value of the Content-Type of each part, which must be valid; empty = parts have
  // no Content-Type. `size` is the size of the whole representation. `ranges` must not be empty.
  MultipartByteranges(const Boundary& boundary, std::string_view type, uint64_t size,
                      std::span<const ByteRange> ranges)
      : boundary_(boundary), type_(type), size_(size), ranges_(ranges) {}

  // Appends the value of the Content-Type field of the response.
  void AppendContentType(std::string* out) const;
  // Appends the head of a part, blank line included.
  void AppendPartHead(size_t index, std::string* out) const;
  void AppendEnd(std::string* out) const;

  // Returns the value of Content-Length: bytes of all texts and ranges. Cannot overflow with ranges
  // from ParseByteRanges(), unless `size` is close to UINT64_MAX.
  [[nodiscard]] uint64_t content_bytes() const;

 private:
  [[nodiscard]] size_t PartHeadBytes(size_t index) const;

  Boundary boundary_;
  std::string_view type_;
  uint64_t size_;
  std::span<const ByteRange> ranges_;
};

}  // namespace httpsys::semantics
