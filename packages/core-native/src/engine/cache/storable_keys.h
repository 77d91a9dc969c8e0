#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace httpsys::engine {

// Remembers for each key whether the last response was stored. A request waits for the answer to
// another one only if that will probably be stored: long polls and streams, whose answers are never
// stored, must not wait for each other. A table with one key in each place: a newer key may
// displace an older one. Thread: any.
class StorableKeys {
 public:
  enum class Last : uint8_t { kUnknown, kStored, kNotStored };

  // Number of places in the table: enough for the popular entries of most caches. The table has 128
  // KiB, whose pages are allocated when they are first used.
  static constexpr size_t kKeysMax = 16 * 1024;

  StorableKeys() : keys_(static_cast<Key*>(std::calloc(kKeysMax, sizeof(Key)))) {}
  StorableKeys(const StorableKeys&) = delete;
  StorableKeys& operator=(const StorableKeys&) = delete;

  // `hash` is the hash of the key, which must be the same in all lanes.
  Last Find(uint64_t hash) const {
    if (keys_ == nullptr) return Last::kUnknown;
    const uint64_t known = PlaceOf(hash)->load(std::memory_order_relaxed);
    if ((known | kStoredBit) != (hash | kStoredBit)) return Last::kUnknown;
    return (known & kStoredBit) != 0 ? Last::kStored : Last::kNotStored;
  }
  void Note(uint64_t hash, bool is_stored) {
    if (keys_ == nullptr) return;
    const uint64_t known = is_stored ? hash | kStoredBit : hash & ~kStoredBit;
    PlaceOf(hash)->store(known, std::memory_order_relaxed);
  }

 private:
  using Key = std::atomic<uint64_t>;
  static_assert(Key::is_always_lock_free);
  // Set if the response was stored. Replaces the lowest bit of the hash.
  static constexpr uint64_t kStoredBit = 1;

  struct Free {
    void operator()(Key* keys) const { std::free(keys); }
  };

  Key* PlaceOf(uint64_t hash) const { return &keys_[hash / 2 % kKeysMax]; }

  std::unique_ptr<Key[], Free> keys_;
};

}  // namespace httpsys::engine
