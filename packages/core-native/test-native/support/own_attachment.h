#pragma once
// An attachment that owns its memory, in a list of its own.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/connection/attachment.h"

namespace httpsys::test {

class OwnAttachment {
 public:
  engine::Attachment* get() { return attachment_; }
  const engine::Attachments* list() const { return &list_; }
  // The first byte of a segment.
  const uint8_t* At(uint32_t segment) const {
    return reinterpret_cast<const uint8_t*>(memory_.data()) + size_t{segment} * kSegmentBytes;
  }

 private:
  static constexpr size_t kSegments = 4;
  static constexpr size_t kSegmentBytes = 64 * 1024;

  std::vector<std::span<uint8_t>> Segments() {
    std::vector<std::span<uint8_t>> segments;
    for (size_t i = 0; i < kSegments; ++i) {
      segments.emplace_back(reinterpret_cast<uint8_t*>(memory_.data()) + i * kSegmentBytes,
                            kSegmentBytes);
    }
    return segments;
  }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(kSegments * kSegmentBytes / 8);
  std::vector<int32_t> words_ = std::vector<int32_t>(records::kControlWords);
  ConsumerSignal signal_{[] {}};
  engine::Attachments list_;
  engine::Attachment* attachment_ = list_.Add(std::make_unique<engine::Attachment>(
      ControlBlock(words_.data()), Segments(), &signal_, std::make_shared<BlockPool>(), nullptr));
};

}  // namespace httpsys::test
