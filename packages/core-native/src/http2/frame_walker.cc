#include "http2/frame_walker.h"

#include <algorithm>
#include <cstring>

#include "http2/nghttp2_api.h"

namespace httpsys::http2 {
namespace {

int32_t StreamAt(const uint8_t* bytes) {
  return static_cast<int32_t>((uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
                               uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]}) &
                              0x7fffffffu);
}

}  // namespace

int32_t FrameWalker::stream() const { return StreamAt(seen_ + 5); }

size_t FrameWalker::length() const {
  return size_t{seen_[0]} << 16 | size_t{seen_[1]} << 8 | size_t{seen_[2]};
}

bool FrameWalker::IsBadPriority() const {
  return stream() == 0 || StreamAt(seen_ + kHeadBytes) == stream();
}

FrameWalker::Step FrameWalker::Read(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t skipped = std::min(left_, bytes.size() - at);
    left_ -= skipped;
    at += skipped;
    const bool is_priority = seen_bytes_ >= kHeadBytes;
    const size_t wanted = (is_priority ? kSeenBytes : kHeadBytes) - seen_bytes_;
    const size_t taken = std::min(wanted, bytes.size() - at);
    if (taken == 0) break;
    std::memcpy(seen_ + seen_bytes_, bytes.data() + at, taken);
    seen_bytes_ += taken;
    if (taken < wanted) return {Kind::kMore, bytes.size(), 0};
    if (!is_priority && seen_[3] == kDataFrame) {
      left_ = taken + length();
      seen_bytes_ = 0;
      return {Kind::kData, at, stream()};
    }
    at += taken;
    // Check only PRIORITY frames of the right length: nghttp2 refuses others.
    if (!is_priority && seen_[3] == kPriorityFrame && length() >= kSeenBytes - kHeadBytes) continue;
    if (is_priority && IsBadPriority()) return {Kind::kBadPriority, at, 0};
    left_ = length() - (is_priority ? kSeenBytes - kHeadBytes : 0);
    seen_bytes_ = 0;
  }
  return {Kind::kMore, at, 0};
}

}  // namespace httpsys::http2
