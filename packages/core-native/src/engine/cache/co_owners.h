#pragma once
// The other processes that own URLs of this process, and their invalidations.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/invalidation_counters.h"

namespace httpsys::engine {

// Each process counts its invalidations and flushes in memory that the others map. From these
// counters this object makes a generation for every URL, which rises whenever another owner of the
// URL has made its entries obsolete: an entry is good if it has the present generation. A killed
// process leaves its counters behind, and no process waits for another one. A hostile owner can
// only raise generations, which costs misses. Thread: any.
class CoOwners {
 public:
  // A scope of this process (ProcessCache::Claim) that other members own, too.
  struct Shared {
    uint32_t scope = 0;
    std::string prefix;             // The scope's URL prefix; empty = everything on a port.
    std::vector<uint64_t> members;  // The other owners.
  };
  // Drops the obsolete entries of a scope. Called on the thread of Set() and Sweep().
  using DropObsolete = std::function<void(uint32_t scope)>;

  CoOwners& operator=(CoOwners&&) = delete;

  // -- Invalidations of this process.

  // Makes the counters. Must be called before Share() and the Count functions, which do nothing
  // without counters. A second call does nothing.
  void MakeCounters();
  // Returns the memory of the counters, to be given to a process that will follow them; nullptr =
  // MakeCounters() was not called, or memory is short.
  std::shared_ptr<const cache::SharedMemory> Share();
  // Makes must_count() true. Must be called before another member can give requests to this
  // process: other owners may have entries before they follow the counters.
  void ExpectOthers() { has_others_.store(true, std::memory_order_release); }
  // True if invalidations must be counted, because other processes may have entries.
  bool must_count() const { return has_others_.load(std::memory_order_acquire); }
  // Count that the entries of a target, or of a URL prefix, are obsolete. Must be called before
  // anyone learns of that. An empty prefix stands for everything on a port.
  void CountTarget(std::string_view target) { Count(cache::InvalidationPlaces::OfTarget(target)); }
  void CountPrefix(std::string_view prefix) { Count(cache::InvalidationPlaces::OfPrefix(prefix)); }

  // -- For engines, which know the owners.

  // Replaces the list of the shared scopes that `user` (an engine of this process) knows. The
  // counters of a member that no longer owns a scope are followed for another
  // limits::kCacheFormerMs, because it may still answer earlier requests. `now_ms` is any monotonic
  // clock.
  void Set(const void* user, const std::vector<Shared>& shared, uint64_t now_ms);
  // Stops following former owners whose time is over (see Set()). Returns true if the time of
  // others is not over yet. Must be called with UINT64_MAX as `now_ms` before a user is destroyed,
  // after a last Set() without scopes.
  bool Sweep(const void* user, uint64_t now_ms, const DropObsolete& drop);
  // Returns the members of Set() whose counters `user` does not know.
  std::vector<uint64_t> Missing(const void* user) const;
  // Sets the counters of a member; nullptr = the member belongs to this process.
  void SetCounters(const void* user, uint64_t member,
                   std::shared_ptr<cache::FollowedCounters> counters);
  // Must be called when a member whose counters are unknown has gone. It may have made entries of
  // its scopes obsolete, so all of them become obsolete.
  void SetGone(const void* user, uint64_t member);

  // -- For readers.

  // True while another process owns the scope, or may still make its entries obsolete. Only this
  // process may use the entries of such a scope.
  bool IsShared(uint32_t scope) const;
  // A number that changes whenever IsShared() of a scope changes or a Snapshot gets outdated.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  // The counters of one owner of a scope.
  struct View {
    uint64_t member = 0;
    // Last seen value of the prefix's counter; `counters` has the values for targets.
    cache::FollowedCounters::Seen seen{0};
    std::shared_ptr<cache::FollowedCounters> counters;  // nullptr = of this process, or unknown.
    bool is_known = false;
  };
  struct Scope {
    size_t place = 0;  // The position of the prefix's counter.
    std::vector<std::shared_ptr<View>> views;
  };
  // Shared scopes by number. Immutable except for View::seen.
  using Scopes = std::unordered_map<uint32_t, Scope>;

 public:
  // The scopes as one reader knows them. The reader takes a lock only if they have changed.
  struct Snapshot {
    std::shared_ptr<const Scopes> scopes;
    uint64_t version = 0;
  };
  // The generation of the entries of a URL. `is_known` is false while the counters of an owner are
  // missing: until they arrive, no entry is good and none is stored.
  struct Generation {
    uint64_t value = 0;
    bool is_known = true;

    bool operator==(const Generation&) const = default;
  };
  Generation Of(Snapshot* snapshot, uint32_t scope, std::string_view target) {
    if (!is_used_.load(std::memory_order_acquire)) return {};
    return Follow(snapshot, scope, target);
  }

 private:
  struct Known {
    // nullptr = the member belongs to this process.
    std::shared_ptr<cache::FollowedCounters> counters;
  };
  using Pair = std::pair<uint32_t, uint64_t>;  // A scope and a member.
  struct Owned {
    std::string prefix;
    // End of following; UINT64_MAX = the member owns the scope.
    uint64_t until_ms = UINT64_MAX;
    std::shared_ptr<View> view;
  };
  // One engine's data about owners.
  struct User {
    std::map<Pair, Owned> owned;
    std::map<uint64_t, Known> known;  // Keyed by member.
  };

  // Counters that make up generations: per position of a target, and per scope (modulo kScopes).
  struct Generations {
    static constexpr size_t kScopes = 256;

    std::array<std::atomic<uint64_t>, cache::InvalidationPlaces::kTargets> targets{};
    std::array<std::atomic<uint64_t>, kScopes> scopes{};

    std::atomic<uint64_t>* OfScope(uint32_t scope) { return &scopes[scope % kScopes]; }
  };

  void Count(size_t place);
  Generation Follow(Snapshot* snapshot, uint32_t scope, std::string_view target);
  // mutex_ must be held.
  std::shared_ptr<View> MakeView(const User& user, uint64_t member) const;
  void Publish();
  void FollowAll(uint32_t scope, const Owned& left);
  void ForgetUnused(User* user);

  mutable std::mutex mutex_;
  std::unique_ptr<cache::InvalidationCounters> own_;  // Set once.
  std::atomic<bool> has_others_{false};
  std::map<const void*, User> users_;
  std::shared_ptr<const Scopes> scopes_ = std::make_shared<Scopes>();
  std::multiset<uint32_t> dropping_;  // Scopes whose obsolete entries are being dropped.
  std::atomic<uint64_t> version_{1};
  std::unique_ptr<Generations> generations_;  // Set once, before is_used_.
  std::atomic<bool> is_used_{false};          // True once a scope was shared.
};

}  // namespace httpsys::engine
