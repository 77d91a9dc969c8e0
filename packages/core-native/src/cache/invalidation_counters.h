#pragma once
// Shared counters of what one process has made obsolete in its cache, for the other processes that
// own the same URLs.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "cache/shared_memory.h"

namespace httpsys::cache {

// Places of counters: a target has one, and so has a URL prefix. Several of them may share a place,
// which makes entries obsolete that are not, and never the other way round. The places are the same
// in all processes, so that their hash has no seed.
struct InvalidationPlaces {
  static constexpr size_t kTargets = 8192;
  static constexpr size_t kPrefixes = 256;
  static constexpr size_t kBytes = (kTargets + kPrefixes) * sizeof(uint64_t);

  // The place of a target, byte for byte as requests have it, below kTargets.
  [[nodiscard]] static size_t OfTarget(std::string_view target);
  // The place of a URL prefix, from kTargets on. Spellings of a prefix that differ in letter case
  // or in bytes outside of ASCII have the same place.
  [[nodiscard]] static size_t OfPrefix(std::string_view prefix);
};

// The counters of this process. A counter never goes down. Thread: any.
class InvalidationCounters {
 public:
  // Returns nullptr if there is no memory.
  [[nodiscard]] static std::unique_ptr<InvalidationCounters> Create();
  InvalidationCounters(const InvalidationCounters&) = delete;
  InvalidationCounters& operator=(const InvalidationCounters&) = delete;

  // The memory that other processes map.
  const std::shared_ptr<const SharedMemory>& memory() const { return shared_; }
  // Must be called before anybody is told that the entries of a place are obsolete.
  void Count(size_t place) { memory_->words()[place].fetch_add(1, std::memory_order_acq_rel); }

 private:
  explicit InvalidationCounters(std::shared_ptr<SharedMemory> memory)
      : memory_(std::move(memory)), shared_(memory_) {}

  const std::shared_ptr<SharedMemory> memory_;
  const std::shared_ptr<const SharedMemory> shared_;
};

// The counters of another process, and how far this process has followed them. The memory may have
// any contents at any time. Counters begin at 0: those that are above it at first have counted
// something that this process has not heard of. Thread: any.
class FollowedCounters {
 public:
  using Seen = std::atomic<uint64_t>;

  // Returns nullptr if the memory has another size.
  [[nodiscard]] static std::shared_ptr<FollowedCounters> Over(
      std::shared_ptr<const SharedMemory> memory);
  FollowedCounters(const FollowedCounters&) = delete;
  FollowedCounters& operator=(const FollowedCounters&) = delete;

  // Adds to the generation if the counter of a target is another one than at the last call for it.
  // When the call returns, the generation has been raised for everything that was counted before
  // the call, by this or another thread.
  void FollowTarget(size_t place, std::atomic<uint64_t>* generation) {
    Follow(place, &seen_[place], generation);
  }
  // The same for the counter of a prefix, of which the caller keeps what was seen last: 0 at first.
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
    // Behind the generation: another thread that sees this sees the generation, too.
    seen->store(now, std::memory_order_release);
  }

  const std::shared_ptr<const SharedMemory> memory_;
  std::array<Seen, InvalidationPlaces::kTargets> seen_{};
};

}  // namespace httpsys::cache
