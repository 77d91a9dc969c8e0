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

// Length of a boundary, which is 128 bits in hexadecimal: nobody guesses it, so no file contains
// it.
inline constexpr size_t kBoundaryBytes = 32;
using Boundary = FixedText<kBoundaryBytes>;

// Makes a boundary of two random numbers.
[[nodiscard]] Boundary MakeBoundary(uint64_t random_a, uint64_t random_b);

// Texts of one response. Its content is, for each range, the head of the part and the bytes of the
// range, and then the end. A sender appends one text at a time, and takes the bytes from elsewhere.
// `type` and `ranges` must live as long as the object. Thread: any.
class MultipartByteranges {
 public:
  // `type` is the value of the Content-Type that each part gets, or empty for parts without one; it
  // is a valid field value. `size` is that of the whole representation. There is at least one
  // range.
  MultipartByteranges(const Boundary& boundary, std::string_view type, uint64_t size,
                      std::span<const ByteRange> ranges)
      : boundary_(boundary), type_(type), size_(size), ranges_(ranges) {}

  // Appends the value of the Content-Type field of the response.
  void AppendContentType(std::string* out) const;
  // Appends the head of a part, blank line included.
  void AppendPartHead(size_t index, std::string* out) const;
  // Appends the end of the content.
  void AppendEnd(std::string* out) const;

  // The value of Content-Length: all texts and ranges. ParseByteRanges() makes no ranges with which
  // it would be too large for its type unless `size` nearly is.
  [[nodiscard]] uint64_t content_bytes() const;

 private:
  [[nodiscard]] size_t PartHeadBytes(size_t index) const;

  Boundary boundary_;
  std::string_view type_;
  uint64_t size_;
  std::span<const ByteRange> ranges_;
};

}  // namespace httpsys::semantics
