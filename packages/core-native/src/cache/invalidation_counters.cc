#include "cache/invalidation_counters.h"

#include "base/ascii.h"
#include "base/seeded_hash.h"

namespace httpsys::cache {
namespace {

// Seed of the hash that selects the counter of a target or prefix. The same in all processes,
// because they read each other's counters.
constexpr uint64_t kPlaceSeed = 0x6365'6c61'7073'6821;

}  // namespace

// The hash is a part of the protocol of a port: members of all versions use the same positions.
size_t InvalidationPlaces::OfTarget(std::string_view target) {
  uint64_t state = kPlaceSeed ^ target.size() * kHashMultiplier;
  while (target.size() > 8) {
    state = seeded_hash::Mix(state, seeded_hash::Load<uint64_t>(target.data()));
    target.remove_prefix(8);
  }
  state = seeded_hash::Mix(state, seeded_hash::LoadUpTo8(target));
  return (state ^ state >> 32) % kTargets;
}

size_t InvalidationPlaces::OfPrefix(std::string_view prefix) {
  uint64_t state = kPlaceSeed;
  for (const char c : prefix) {
    if (static_cast<unsigned char>(c) < 0x80) {
      state = seeded_hash::Mix(state, static_cast<unsigned char>(LowerCase(c)));
    }
  }
  return kTargets + (state ^ state >> 32) % kPrefixes;
}

std::unique_ptr<InvalidationCounters> InvalidationCounters::Create() {
  std::shared_ptr<SharedMemory> memory = SharedMemory::Create(InvalidationPlaces::kBytes);
  if (memory == nullptr) return nullptr;
  return std::unique_ptr<InvalidationCounters>(new InvalidationCounters(std::move(memory)));
}

std::shared_ptr<FollowedCounters> FollowedCounters::Over(
    std::shared_ptr<const SharedMemory> memory) {
  if (memory == nullptr || memory->bytes() != InvalidationPlaces::kBytes) return nullptr;
  return std::shared_ptr<FollowedCounters>(new FollowedCounters(std::move(memory)));
}

}  // namespace httpsys::cache
