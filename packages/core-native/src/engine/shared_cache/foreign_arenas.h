#pragma once
// An engine's knowledge of the output caches of other members.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/sorted_chunks.h"
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
  // cache::KeyScope::port of the entries. 0 = the owner has not answered yet, or has nothing.
  uint32_t scope = 0;
  uint8_t flags = 0;        // peer::CacheScopeFlags.
  bool has_prefix = false;  // False for a server of a whole port.
  UrlPrefix prefix;         // Valid with has_prefix.
  std::string terms;        // As in peer::CacheScope.
};

// One version of the data about one member's cache. Immutable, and shared by the lanes.
struct ForeignArena {
  struct Chunk {
    std::shared_ptr<const cache::SharedMemory> memory;  // nullptr = not mapped.
    uint64_t serial = 0;
  };

  std::shared_ptr<const cache::SharedMemory> index;  // nullptr = nothing can be found.
  std::vector<Chunk> chunks;                         // By number.
  std::shared_ptr<cache::SharedMemory> hits;         // This engine counts hits in it.
  SortedChunks<ForeignScope, &ForeignScope::key> scopes;
  // Rises when index or chunks change.
  uint64_t memory_version = 0;
  // When the process of the member was found to be killed (ms, uv_hrtime()); 0 = it lives.
  uint64_t orphaned_ms = 0;
};

// The arenas of all members. Readers keep a version, and check with one atomic load whether there
// is a newer one. Thread: any.
class ForeignArenas {
 public:
  // Asks a member for the scope of a prefix. Called on the thread of Ask().
  using AskOwner = std::function<void(uint64_t member, uint32_t server_id, uint32_t prefix_id)>;
  using Arenas = std::map<uint64_t, std::shared_ptr<const ForeignArena>>;  // By member.

  ForeignArenas() = default;
  ForeignArenas(const ForeignArenas&) = delete;
  ForeignArenas& operator=(const ForeignArenas&) = delete;

  // Must be called before the first Ask(); nullptr = no member is asked any more.
  void SetAskOwner(AskOwner ask);

  // Changes whenever Read() returns something else.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  Arenas Read() const;
  // Asks a member once for the scope of a prefix, which is 0 until the member answers.
  void Ask(uint64_t member, uint32_t server_id, uint32_t prefix_id);

  // -- For ArenaLinks.

  // Changes the data about a member; does nothing if the member is unknown.
  void Update(uint64_t member, const std::function<void(ForeignArena*)>& change);
  // Forgets a member, so that Ask() asks again.
  void Forget(uint64_t member);
  // Calls `is_over` for each member, and forgets those for which it returns true.
  void ForgetIf(const std::function<bool(uint64_t member, const ForeignArena&)>& is_over);

  // Replaces a scope in a version that is being made.
  static void SetScope(ForeignScope scope, ForeignArena* arena);

 private:
  mutable std::mutex mutex_;
  AskOwner ask_;
  Arenas arenas_;
  std::atomic<uint64_t> version_{1};
};

}  // namespace httpsys::engine
