#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace httpsys::cache {

// Lists of the free segments and of the segments of each log, from the oldest to the one that is
// being filled. Thread: any, one at a time.
class SegmentLogs {
 public:
  enum class Log : uint8_t { kSmall, kMain };

  explicit SegmentLogs(size_t segments) : places_(segments, Place::kNone) {}

  // Adds a segment that has just got memory or was emptied.
  void AddFree(uint32_t segment) {
    places_[segment] = Place::kFree;
    free_.push_back(segment);
  }
  // Removes a segment from its list.
  void Remove(uint32_t segment) {
    if (places_[segment] == Place::kFree) std::erase(free_, segment);
    if (places_[segment] == Place::kSmall) std::erase(small_, segment);
    if (places_[segment] == Place::kMain) std::erase(main_, segment);
    places_[segment] = Place::kNone;
  }
  // Makes a free segment the last one of a log, and returns it. There must be a free segment.
  uint32_t Extend(Log log) {
    const uint32_t segment = free_.back();
    free_.pop_back();
    places_[segment] = log == Log::kSmall ? Place::kSmall : Place::kMain;
    (log == Log::kSmall ? small_ : main_).push_back(segment);
    return segment;
  }

  size_t free_count() const { return free_.size(); }
  const std::deque<uint32_t>& Of(Log log) const { return log == Log::kSmall ? small_ : main_; }
  bool IsInMain(uint32_t segment) const { return places_[segment] == Place::kMain; }

 private:
  enum class Place : uint8_t { kNone, kFree, kSmall, kMain };

  std::vector<Place> places_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> small_;
  std::deque<uint32_t> main_;
};

}  // namespace httpsys::cache
