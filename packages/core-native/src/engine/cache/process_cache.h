#pragma once
// The output cache of the process, which its lanes fill and read.

#include <array>
#include <atomic>
#include <cstdint>
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
#include "engine/cache/storable_keys.h"
#include "http1/header_line.h"
#include "semantics/content_coding.h"

namespace httpsys::engine {

// The store, a mutex around it, and the scopes whose entries it has. The store is made when the
// first server of the process asks for a cache. Thread: any.
class ProcessCache {
 public:
  static constexpr uint64_t kDefaultBytes = 32 * 1024 * 1024;

  ProcessCache();
  ProcessCache(const ProcessCache&) = delete;
  ProcessCache& operator=(const ProcessCache&) = delete;

  // The one of the process.
  static ProcessCache& Instance();

  // Bounds the memory of entries on behalf of `user`; 0 = it has no wish any more. The largest wish
  // counts, or kDefaultBytes without any. A bound above all earlier ones forgets every entry.
  // `port_bytes` is kept for whoever asks for a part of what a port has; 0 = the default.
  void SetBytes(const void* user, uint64_t bytes, uint64_t port_bytes = 0);

  // The smallest port_bytes, or 0 if nobody has named one.
  uint64_t port_bytes() const;
  // What SetBytes() has asked for.
  uint64_t wished_bytes() const;
  // Bounds the memory of entries by what the members of a port have for this process. The smallest
  // bound counts; UINT64_MAX = this one is none. With less than cache::ArenaShape's chunk nothing
  // is stored.
  void Limit(const void* user, uint16_t port, uint64_t bytes);
  void ForgetLimits(const void* user);

  // -- Scopes. Answers of one scope are never given to requests of another one. A scope has a
  // number above 65535 (cache::KeyScope::port), which is never used again.

  // Returns the number of the scope with this name, which exists until each Claim() has a
  // Release(). Makes the store.
  uint32_t Claim(const std::string& name);
  // With the last claim the entries of the scope go away, too.
  void Release(const std::string& name);

  // -- Reading.

  // Changes whenever readers must call Map() again.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  // What a reader uses until the version changes; no reader = there is no store.
  struct Mapping {
    std::shared_ptr<cache::CacheStore> store;  // Keeps the hit counters.
    std::unique_ptr<cache::ArenaReader> reader;
    uint64_t version = 0;
  };
  void Map(Mapping* mapping);

  // -- Other processes.

  // The memory of the arena, to be mapped elsewhere. No index = there is no store.
  struct Memory {
    struct Chunk {
      std::shared_ptr<const cache::SharedMemory> memory;  // nullptr = there is none.
      uint64_t serial = 0;
    };

    std::shared_ptr<const cache::SharedMemory> index;
    std::vector<Chunk> chunks;  // By number.
  };
  Memory Share() const;
  // Calls `changed` whenever the version changes, until Unwatch() has returned. It must not call
  // this object.
  // Also whenever other members have come to own a scope, or have left it, and Announce() is
  // called.
  void Watch(const void* user, std::function<void()> changed);
  void Unwatch(const void* user);
  void Announce();
  // Counts the hits of another process, which writes them into this memory.
  void AddHits(const std::shared_ptr<const cache::SharedMemory>& hits);
  void RemoveHits(const std::shared_ptr<const cache::SharedMemory>& hits);
  // The other owners of prefixes of this process, and what they have made obsolete.
  CoOwners& co_owners() { return co_owners_; }
  // Forgets the entries of a scope that other owners have made obsolete.
  void DropObsolete(uint32_t scope);

  // -- Writing.

  // The invalidations of a URL so far: a request that was given to JavaScript before one of them
  // may have an answer from before it.
  struct Mark {
    uint32_t of_url = 0;
    uint32_t of_all = 0;
    CoOwners::Generation generation;

    bool operator==(const Mark&) const = default;
  };
  Mark MarkOf(std::string_view key);
  // The responses stored so far for a URL with this key, or for another one with the same counter:
  // if none was found, there is none as long as the mark is that of now.
  struct StoreMark {
    uint32_t counter = 0;
    uint32_t stores = 0;
  };
  StoreMark StoresOf(std::string_view key) const;
  bool IsCurrent(StoreMark mark) const {
    return stores_[mark.counter].load(std::memory_order_acquire) == mark.stores;
  }
  // Of hashes that are not told to anybody.
  uint64_t seed() const { return counter_seed_; }

  // A response to be stored. `parts.key` is the key of the URL.
  struct Response {
    cache::EntryParts parts;
    const cache::VaryNames* vary;              // Not nullptr.
    std::span<const http1::HeaderLine> lines;  // Of the request, for `vary`.
    Mark mark;                                 // From before JavaScript was asked.
  };
  // Returns why the response was not stored, or kNone: it is obsolete, or too large, which it also
  // is if there is no memory.
  cache::Refusal Store(const Response& response);
  // A variant of a stored response in a content coding.
  struct CodedResponse {
    std::string_view plain_key;  // That of the entry, perhaps of a variant by Vary.
    semantics::ContentCoding coding;
    const cache::EntryHead* plain;  // Not nullptr.
    std::string_view head;
    std::string_view body;  // Empty: the coding does not make the response smaller.
  };
  // Stores a variant, unless its plain response is not stored any more.
  void StoreCoded(const CodedResponse& response);
  // Forgets what is stored for the key of a URL, with all variants. Returns false if there was
  // nothing.
  bool Drop(std::string_view key);
  // Does the same for all owners of the URL, before it returns.
  bool Invalidate(std::string_view key);
  // Visits entries as CacheStore::DropSomeIf() does, with their hits as far as eviction counts
  // them, and lets lanes store in between; those that a VaryRecord has made unreachable are among
  // them until they are evicted.
  using Visit =
      std::function<bool(std::string_view key, const cache::EntryHead& entry, uint32_t hits)>;
  size_t DropIf(const Visit& visit);
  // Must be called before entries of any URL are dropped at the wish of somebody.
  void BeginFlush() { flushes_.fetch_add(1, std::memory_order_acq_rel); }
  // Lanes that ask JavaScript. The process makes each missing response once and refreshes each
  // stale response once.
  struct AskingLanes {
    LeadingLanes for_missing;
    LeadingLanes for_stale;
    StorableKeys storable;  // The keys of responses that others may wait for.
  };
  AskingLanes& asking_lanes() { return asking_lanes_; }
  cache::StoreCounts counts() const;
  uint64_t memory_bytes() const;

  // Counts the responses that are being captured (CaptureCount).
  std::atomic<uint64_t>& captures() { return captures_; }
  // Returns false if nothing that is stored, or will be, can become obsolete: no request that
  // JavaScript has been given so far has an answer which is stored or will be, and no other owner
  // of a URL has to hear what becomes obsolete here. What JavaScript has been given before it gave
  // the caller an answer counts, whichever lane gave it.
  bool must_invalidate() const {
    return captures_.load(std::memory_order_acquire) != 0 ||
           has_stored_.load(std::memory_order_relaxed) || co_owners_.must_count();
  }
  // Adds to the bytes of responses that are being captured. Returns false, and adds nothing, if
  // that would be more than an eighth of what entries may have.
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

  // All of them with the mutex.
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
  // Notes the variant that a request selects in the records of its URL, whose key is key_. That
  // becomes the key of the variant. Returns false if there is no memory.
  bool NoteVariant(const Response& response);

  mutable std::mutex mutex_;
  struct Wish {
    uint64_t bytes = 0;
    uint64_t port_bytes = 0;
  };

  std::map<const void*, Wish> wishes_;
  std::map<std::pair<const void*, uint16_t>, uint64_t> limits_;
  bool is_suspended_ = false;  // There is no memory for entries.
  std::map<std::string, Scope> scopes_;
  std::map<const void*, std::function<void()>> watchers_;
  std::map<const cache::SharedMemory*, ForeignHits> hits_;
  std::shared_ptr<cache::CacheStore> store_;
  Mapping own_;  // For looking at what is stored before something replaces it.
  cache::CopyBuffer buffer_;
  std::string key_;  // Of the variant that is being stored.
  uint64_t store_version_ = 0;
  uint64_t next_epoch_ = 0;
  uint32_t next_stamp_ = 0;
  uint32_t next_scope_ = 1u << 16;
  // Invalidations by hashes of keys, and flushes. Two keys with one counter refuse each other's
  // responses now and then.
  static constexpr size_t kUrlCounters = 4096;
  std::array<std::atomic<uint32_t>, kUrlCounters> invalidations_{};
  std::atomic<uint32_t> flushes_{0};
  std::array<std::atomic<uint32_t>, kUrlCounters> stores_{};  // As invalidations_.
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
