#include "semantics/multipart_byteranges.h"

#include "base/check.h"

namespace httpsys::semantics {
namespace {

constexpr std::string_view kDelimiter = "\r\n--";
// The delimiter before the first part has no line break, because no text precedes it.
constexpr size_t kNoLineBreakBytes = 2;
constexpr std::string_view kTypeName = "\r\nContent-Type: ";
constexpr std::string_view kRangeName = "\r\nContent-Range: ";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kContentEnd = "--\r\n";

}  // namespace

Boundary MakeBoundary(uint64_t random_a, uint64_t random_b) {
  Boundary boundary;
  for (uint64_t number : {random_a, random_b}) {
    for (int digit = 0; digit < 16; ++digit) {
      boundary.AddNumber(number & 0xF, 16);
      number >>= 4;
    }
  }
  return boundary;
}

void MultipartByteranges::AppendContentType(std::string* out) const {
  out->append("multipart/byteranges; boundary=").append(boundary_.view());
}

void MultipartByteranges::AppendPartHead(size_t index, std::string* out) const {
  out->append(index == 0 ? kDelimiter.substr(kNoLineBreakBytes) : kDelimiter);
  out->append(boundary_.view());
  if (!type_.empty()) out->append(kTypeName).append(type_);
  out->append(kRangeName).append(ContentRange(ranges_[index], size_).view()).append(kHeadEnd);
}

void MultipartByteranges::AppendEnd(std::string* out) const {
  out->append(kDelimiter).append(boundary_.view()).append(kContentEnd);
}

size_t MultipartByteranges::PartHeadBytes(size_t index) const {
  return kDelimiter.size() - (index == 0 ? kNoLineBreakBytes : 0) + boundary_.view().size() +
         (type_.empty() ? 0 : kTypeName.size() + type_.size()) + kRangeName.size() +
         ContentRange(ranges_[index], size_).view().size() + kHeadEnd.size();
}

uint64_t MultipartByteranges::content_bytes() const {
  HTTPSYS_CHECK(!ranges_.empty());
  uint64_t bytes = kDelimiter.size() + boundary_.view().size() + kContentEnd.size();
  for (size_t i = 0; i < ranges_.size(); ++i) bytes += PartHeadBytes(i) + ranges_[i].bytes();
  return bytes;
}

}  // namespace httpsys::semantics
