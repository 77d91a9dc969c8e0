#pragma once
// The output cache of the process, which its lanes fill and read.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/arena_reader.h"
#include "cache/cache_store.h"
#include "cache/refusal.h"
#include "cache/vary.h"
#include "engine/cache/co_owners.h"
#include "engine/cache/leading_lanes.h"
#include "http1/header_line.h"
#include "semantics/content_coding.h"

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
  StorableKeys& operator=(StorableKeys&&) = delete;

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

// The store, its mutex, and the scopes whose entries it has. The store is made when the first
// server of the process uses a cache. Thread: any.
class ProcessCache {
 public:
  static constexpr uint64_t kDefaultBytes = 32 * 1024 * 1024;

  ProcessCache();
  ProcessCache& operator=(ProcessCache&&) = delete;

  static ProcessCache& Instance();

  // Sets how much memory `user` wishes for entries; 0 = nothing. The largest wish counts; without
  // any, kDefaultBytes. A wish above all earlier ones drops every entry. `port_bytes` is the wished
  // limit for all processes of a port together (port_bytes()); 0 = the default.
  void SetBytes(const void* user, uint64_t bytes, uint64_t port_bytes = 0);

  // The smallest `port_bytes` of all users; 0 = no user has set one.
  uint64_t port_bytes() const;
  // The largest wish of SetBytes(), or kDefaultBytes.
  uint64_t wished_bytes() const;
  // Limits the memory of entries to the part of a port's memory that this process gets. The
  // smallest limit of all ports counts; UINT64_MAX = this port sets none. Below the size of a chunk
  // (cache::ArenaShape) nothing is stored.
  void Limit(const void* user, uint16_t port, uint64_t bytes);
  void ForgetLimits(const void* user);

  // -- Scopes. Answers of one scope are never given to requests of another one. A scope has a
  // number above 65535 (cache::KeyScope::port), which is never used again.

  // Returns the number of the scope with this name. The scope exists until Release() was called
  // once for each Claim(). Makes the store if there is none.
  uint32_t Claim(const std::string& name);
  // Ends one claim. The last Release() of a scope drops its entries.
  void Release(const std::string& name);

  // -- Reading.

  // A number that changes whenever readers must call Map() again.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  // Mapped memory for readers, until version() changes. `reader` is nullptr if there is no store.
  struct Mapping {
    std::shared_ptr<cache::CacheStore> store;  // Keeps the hit counters.
    std::unique_ptr<cache::ArenaReader> reader;
    uint64_t version = 0;
  };
  void Map(Mapping* mapping);

  // -- Other processes.

  // The memory of the arena for other processes. `index` is nullptr if there is no store.
  struct Memory {
    struct Chunk {
      std::shared_ptr<const cache::SharedMemory> memory;  // nullptr = not allocated.
      uint64_t serial = 0;
    };

    std::shared_ptr<const cache::SharedMemory> index;
    std::vector<Chunk> chunks;  // Indexed by chunk number.
  };
  Memory Share() const;
  // Calls `changed` whenever version() changes or Announce() is called (other members have begun or
  // ceased to own a scope), until Unwatch() has returned. `changed` must not call this object.
  void Watch(const void* user, std::function<void()> changed);
  void Unwatch(const void* user);
  void Announce();
  // Lets eviction count the hits of another process, which counts them in this memory.
  void AddHits(const std::shared_ptr<const cache::SharedMemory>& hits);
  void RemoveHits(const std::shared_ptr<const cache::SharedMemory>& hits);
  // The other owners of this process' prefixes, and their invalidations.
  CoOwners& co_owners() { return co_owners_; }
  // Drops the entries of a scope that other owners have made obsolete.
  void DropObsolete(uint32_t scope);

  // -- Writing.

  // Counters of the invalidations of a URL. A mark is taken before a request goes to JavaScript. If
  // it has changed when the response comes, the response may be obsolete and is not stored.
  struct Mark {
    uint32_t of_url = 0;
    uint32_t of_all = 0;
    CoOwners::Generation generation;

    bool operator==(const Mark&) const = default;
  };
  Mark MarkOf(std::string_view key);
  // The number of responses stored for a URL (or for others with the same counter). If a look-up
  // after StoresOf() has found nothing, nothing is stored for the URL while IsCurrent() is true.
  struct StoreMark {
    uint32_t counter = 0;
    uint32_t stores = 0;
  };
  StoreMark StoresOf(std::string_view key) const;
  bool IsCurrent(StoreMark mark) const {
    return stores_[mark.counter].load(std::memory_order_acquire) == mark.stores;
  }
  // Seed of hashes that are used only within this process.
  uint64_t seed() const { return counter_seed_; }

  // A response to be stored. `parts.key` is the key of the URL.
  struct Response {
    cache::EntryParts parts;
    const cache::VaryNames* vary;              // Not nullptr.
    std::span<const http1::HeaderLine> lines;  // Lines of the request, for `vary`.
    Mark mark;                                 // Taken before JavaScript was asked.
  };
  // Stores a response. Returns kNone, or kObsolete or kTooLarge (also if memory is short).
  cache::Refusal Store(const Response& response);
  // A variant of a stored response in a content coding.
  struct CodedResponse {
    std::string_view plain_key;  // Key of the plain entry, perhaps of a variant by Vary.
    semantics::ContentCoding coding;
    const cache::EntryHead* plain;  // Not nullptr.
    std::string_view head;
    std::string_view body;  // Empty: the coding does not make the response smaller.
  };
  // Stores a variant, unless its plain response has left the cache.
  void StoreCoded(const CodedResponse& response);
  // Drops the entry of a URL's key with all its variants. Returns false if there was none.
  bool Drop(std::string_view key);
  // Like Drop(), for all owners of the URL: when it returns, none of them uses the entry any more.
  bool Invalidate(std::string_view key);
  // Visits all entries with their hits as eviction counts them, and drops those for which `visit`
  // returns true (CacheStore::DropSomeIf()); returns how many it dropped. Lanes can store in
  // between. Also visits entries that a VaryRecord has made unreachable, until they are evicted.
  using Visit =
      std::function<bool(std::string_view key, const cache::EntryHead& entry, uint32_t hits)>;
  size_t DropIf(const Visit& visit);
  // Must be called before a flush drops entries; then responses to earlier requests are not stored.
  void BeginFlush() { flushes_.fetch_add(1, std::memory_order_acq_rel); }
  // Lanes that send requests to JavaScript: the process makes each missing response once and
  // refreshes each stale response once.
  struct AskingLanes {
    LeadingLanes for_missing;
    LeadingLanes for_stale;
    StorableKeys storable;  // The keys whose answers are worth waiting for.
  };
  AskingLanes& asking_lanes() { return asking_lanes_; }
  cache::StoreCounts counts() const;
  uint64_t memory_bytes() const;

  // Number of responses that are being captured; CaptureCount changes it.
  std::atomic<uint64_t>& captures() { return captures_; }
  // Returns false if an invalidation would have no effect: nothing was ever stored, no response is
  // being captured, and no other owner of a URL needs to know of invalidations. Counts all requests
  // that any lane gave to JavaScript before JavaScript answered the caller.
  bool must_invalidate() const {
    return captures_.load(std::memory_order_acquire) != 0 ||
           has_stored_.load(std::memory_order_relaxed) || co_owners_.must_count();
  }
  // Reserves bytes for responses that are being captured. Returns false, and reserves nothing, if
  // together they would have more than an eighth of the memory for entries.
  bool TakeCaptureBytes(uint64_t bytes);
  void ReturnCaptureBytes(uint64_t bytes) {
    captured_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

 private:
  struct Scope {
    uint32_t number = 0;
    uint32_t claims = 0;
  };

  size_t CounterOf(std::string_view key) const;

  // The mutex must be held for the functions below.
  uint64_t Bytes() const;
  uint64_t WishedBytes() const;
  void MakeStore();
  void ApplyBytes();
  void OnChanged();
  struct ForeignHits {
    std::shared_ptr<const cache::SharedMemory> memory;
    cache::HitTable table;
  };
  void MapNow(Mapping* mapping) const;
  void DropScope(uint32_t scope);
  // Notes in the Vary records of a URL which variant the request selects. key_ must be the key of
  // the URL, and becomes the key of the variant. Returns false if memory is short.
  bool NoteVariant(const Response& response);

  mutable std::mutex mutex_;
  struct Wish {
    uint64_t bytes = 0;
    uint64_t port_bytes = 0;
  };

  std::map<const void*, Wish> wishes_;
  std::map<std::pair<const void*, uint16_t>, uint64_t> limits_;
  bool is_suspended_ = false;  // True while bounds leave no memory for entries.
  std::map<std::string, Scope> scopes_;
  std::map<const void*, std::function<void()>> watchers_;
  std::map<const cache::SharedMemory*, ForeignHits> hits_;
  std::shared_ptr<cache::CacheStore> store_;
  Mapping own_;  // This object's own mapping, for the Vary records that Store() extends.
  cache::CopyBuffer buffer_;
  std::string key_;  // Key of the variant that is being stored.
  uint64_t store_version_ = 0;
  uint64_t next_epoch_ = 0;
  uint32_t next_stamp_ = 0;
  uint32_t next_scope_ = 1u << 16;
  // Number of invalidations per hash of a key, and number of flushes. If keys share a counter, an
  // invalidation of one also refuses responses of the other.
  static constexpr size_t kUrlCounters = 4096;
  std::array<std::atomic<uint32_t>, kUrlCounters> invalidations_{};
  std::atomic<uint32_t> flushes_{0};
  std::array<std::atomic<uint32_t>, kUrlCounters> stores_{};  // Number of stores per hash of a key.
  const uint64_t counter_seed_;
  AskingLanes asking_lanes_;
  CoOwners co_owners_;
  std::atomic<uint64_t> version_{0};
  std::atomic<uint64_t> bytes_{kDefaultBytes};
  std::atomic<uint64_t> captured_bytes_{0};
  std::atomic<uint64_t> captures_{0};    // The captures that have begun and not ended.
  std::atomic<bool> has_stored_{false};  // A response was stored at some time.
};

}  // namespace httpsys::engine
