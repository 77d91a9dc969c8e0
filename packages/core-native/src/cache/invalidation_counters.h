#pragma once
// Shared counters by which a process informs other owners of its URLs of obsolete entries.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "cache/shared_memory.h"

namespace httpsys::cache {

// Positions of the counters of targets and of URL prefixes. Several of them may share a position;
// an invalidation of one then makes entries of the others obsolete, too. The positions are the same
// in all processes, so their hash has no secret seed.
struct InvalidationPlaces {
  static constexpr size_t kTargets = 8192;
  static constexpr size_t kPrefixes = 256;
  static constexpr size_t kBytes = (kTargets + kPrefixes) * sizeof(uint64_t);

  // Returns the position of a target's counter, below kTargets. `target` is as in the request.
  [[nodiscard]] static size_t OfTarget(std::string_view target);
  // Returns the position of a prefix's counter, kTargets or more. Spellings of a prefix that differ
  // in letter case or in bytes outside of ASCII have the same one.
  [[nodiscard]] static size_t OfPrefix(std::string_view prefix);
};

// The counters of this process. A counter never goes down. Thread: any.
class InvalidationCounters {
 public:
  // Returns nullptr if memory is short.
  [[nodiscard]] static std::unique_ptr<InvalidationCounters> Create();
  InvalidationCounters& operator=(InvalidationCounters&&) = delete;

  // The memory that other processes map.
  const std::shared_ptr<const SharedMemory>& memory() const { return shared_; }
  // Must be called before anyone learns that the entries of a place are obsolete.
  void Count(size_t place) { memory_->words()[place].fetch_add(1, std::memory_order_acq_rel); }

 private:
  explicit InvalidationCounters(std::shared_ptr<SharedMemory> memory)
      : memory_(std::move(memory)), shared_(memory_) {}

  const std::shared_ptr<SharedMemory> memory_;
  const std::shared_ptr<const SharedMemory> shared_;
};

// The counters of another process, and how far this process has followed them. The memory may have
// any contents at any time. Counters begin at 0: a counter that is higher at the first look has
// counted invalidations that this process does not know. Thread: any.
class FollowedCounters {
 public:
  using Seen = std::atomic<uint64_t>;

  // Returns nullptr if the memory has another size.
  [[nodiscard]] static std::shared_ptr<FollowedCounters> Over(
      std::shared_ptr<const SharedMemory> memory);
  FollowedCounters& operator=(FollowedCounters&&) = delete;

  // Raises the generation if the counter of a target has changed since the last call for it. When
  // the call returns, the generation has been raised for everything that was counted before the
  // call, by this or another thread.
  void FollowTarget(size_t place, std::atomic<uint64_t>* generation) {
    Follow(place, &seen_[place], generation);
  }
  // Does the same for a prefix's counter. `seen` keeps its last value, and must be 0 at first.
  void FollowPrefix(size_t place, Seen* seen, std::atomic<uint64_t>* generation) const {
    Follow(place, seen, generation);
  }

 private:
  explicit FollowedCounters(std::shared_ptr<const SharedMemory> memory)
      : memory_(std::move(memory)) {}

  // Two threads that see the same change may both count it, which makes more entries obsolete.
  void Follow(size_t place, Seen* seen, std::atomic<uint64_t>* generation) const {
    const uint64_t now = memory_->words()[place].load(std::memory_order_acquire);
    if (now == seen->load(std::memory_order_acquire)) return;
    generation->fetch_add(1, std::memory_order_acq_rel);
    // Release, after the generation: a thread that sees this value also sees the raised generation.
    seen->store(now, std::memory_order_release);
  }

  const std::shared_ptr<const SharedMemory> memory_;
  std::array<Seen, InvalidationPlaces::kTargets> seen_{};
};

}  // namespace httpsys::cache
