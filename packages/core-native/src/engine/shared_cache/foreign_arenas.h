#pragma once
// The data of an engine about the output caches of other members.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sorted_chunks.h"
#include "cache/arena_reader.h"
#include "cache/hit_table.h"
#include "cache/shared_memory.h"
#include "url/url_prefix.h"

namespace httpsys::engine {

// A prefix of another member, as the owner's last kCacheScope describes it.
struct ForeignScope {
  // Returns the key of a prefix: its server and prefix id at its owner.
  static constexpr uint64_t Key(uint32_t server_id, uint32_t prefix_id) {
    return uint64_t{server_id} << 32 | prefix_id;
  }

  uint64_t key = 0;
  // cache::KeyScope::port of the entries; 0 = the owner has not answered yet, or gives no entries.
  uint32_t scope = 0;
  uint8_t flags = 0;        // peer::CacheScopeFlags.
  bool has_prefix = false;  // False for a server of a whole port.
  UrlPrefix prefix;         // Valid with has_prefix.
  std::string terms;        // peer::CacheScope::terms.
};

// One version of the data about one member's cache. Immutable, and shared by the lanes.
struct ForeignArena {
  struct Chunk {
    std::shared_ptr<const cache::SharedMemory> memory;  // nullptr = not mapped.
    uint64_t serial = 0;
  };

  std::shared_ptr<const cache::SharedMemory> index;  // nullptr = no entries can be found.
  std::vector<Chunk> chunks;                         // By number.
  std::shared_ptr<cache::SharedMemory> hits;         // Memory in which this engine counts hits.
  SortedChunks<ForeignScope, &ForeignScope::key> scopes;
  // Rises whenever the index or chunks change.
  uint64_t memory_version = 0;
  // Time when the member's process was found to be killed (ms, uv_hrtime()); 0 = alive.
  uint64_t orphaned_ms = 0;
};

// The arenas of all members. Readers keep a version, and check with one atomic load whether there
// is a newer one. Thread: any.
class ForeignArenas {
 public:
  // Requests the scope of a prefix from a member. Called on the thread of Ask().
  using AskOwner = std::function<void(uint64_t member, uint32_t server_id, uint32_t prefix_id)>;
  using Arenas = std::map<uint64_t, std::shared_ptr<const ForeignArena>>;  // By member.

  ForeignArenas& operator=(ForeignArenas&&) = delete;

  // Must be called before the first Ask(); nullptr = Ask() asks no member.
  void SetAskOwner(AskOwner ask);

  // A number that changes whenever Read() would return something else.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  Arenas Read() const;
  // Requests the scope of a prefix from a member, once; the scope is 0 until the member answers.
  void Ask(uint64_t member, uint32_t server_id, uint32_t prefix_id);

  // -- For ArenaLinks.

  // Changes the data about a member; does nothing if the member is unknown.
  void Update(uint64_t member, const std::function<void(ForeignArena*)>& change);
  // Forgets a member, so that the next Ask() requests its scope again.
  void Forget(uint64_t member);
  // Calls `is_over` for each member, and forgets those for which it returns true.
  void ForgetIf(const std::function<bool(uint64_t member, const ForeignArena&)>& is_over);

  // Replaces a scope in a new version of the data.
  static void SetScope(ForeignScope scope, ForeignArena* arena);

 private:
  mutable std::mutex mutex_;
  AskOwner ask_;
  Arenas arenas_;
  std::atomic<uint64_t> version_{1};
};

// One lane's readers of other members' arenas. Locks only after changes. Thread: the lane.
class ArenaReaders {
 public:
  struct Reader {
    std::shared_ptr<const ForeignArena> arena;
    std::unique_ptr<cache::ArenaReader> reader;  // nullptr = the arena has no entries.
    std::optional<cache::HitTable> hits;
    uint64_t memory_version = 0;
  };

  explicit ArenaReaders(const ForeignArenas* arenas) : arenas_(arenas) {}
  ArenaReaders& operator=(ArenaReaders&&) = delete;

  // Returns the reader of a member's arena until the next call; nullptr = unknown member.
  Reader* Find(uint64_t member) {
    Refresh();
    const auto found = readers_.find(member);
    return found == readers_.end() ? nullptr : &found->second;
  }
  // Returns the readers of arenas whose process was killed, the last killed one first.
  const std::vector<Reader*>& Orphaned() {
    Refresh();
    return orphaned_;
  }
  bool has_orphaned() {
    Refresh();
    return !orphaned_.empty();
  }

 private:
  void Refresh() {
    if (version_ != arenas_->version()) RefreshAll();
  }
  void RefreshAll();
  static void Open(Reader* reader);

  const ForeignArenas* arenas_;
  uint64_t version_ = 0;
  std::unordered_map<uint64_t, Reader> readers_;  // By member.
  std::vector<Reader*> orphaned_;
};

}  // namespace httpsys::engine
