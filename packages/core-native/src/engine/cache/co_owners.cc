#include "engine/cache/co_owners.h"

#include <algorithm>

#include "base/limits.h"

namespace httpsys::engine {

using cache::InvalidationPlaces;

// -- Invalidations of this process.

void CoOwners::MakeCounters() {
  const std::scoped_lock lock(mutex_);
  if (own_ == nullptr) own_ = cache::InvalidationCounters::Create();
}

std::shared_ptr<const cache::SharedMemory> CoOwners::Share() {
  const std::scoped_lock lock(mutex_);
  has_others_.store(true, std::memory_order_release);
  return own_ == nullptr ? nullptr : own_->memory();
}

void CoOwners::Count(size_t place) {
  const std::scoped_lock lock(mutex_);
  if (own_ != nullptr) own_->Count(place);
}

// -- For engines.

void CoOwners::Set(const void* user, const std::vector<Shared>& shared, uint64_t now_ms) {
  const std::scoped_lock lock(mutex_);
  const auto there = users_.find(user);
  if (there == users_.end() && shared.empty()) return;
  User& known = there == users_.end() ? users_[user] : there->second;
  if (generations_ == nullptr) generations_ = std::make_unique<Generations>();
  bool has_changed = false;
  std::set<Pair> pairs;
  for (const Shared& scope : shared) {
    for (const uint64_t member : scope.members) {
      pairs.insert({scope.scope, member});
      const auto [found, is_new] = known.owned.try_emplace({scope.scope, member});
      found->second.until_ms = UINT64_MAX;
      if (!is_new) continue;
      has_changed = true;
      found->second.prefix = scope.prefix;
      found->second.view = MakeView(known, member);
    }
  }
  for (auto& [pair, owned] : known.owned) {
    if (pairs.contains(pair) || owned.until_ms != UINT64_MAX) continue;
    if (owned.view->is_known) {
      owned.until_ms = now_ms + limits::kCacheFormerMs;
    } else {
      // The member's counters never arrived, so any entry of the scope may be obsolete.
      generations_->OfScope(pair.first)->fetch_add(1, std::memory_order_acq_rel);
      owned.until_ms = 0;
    }
  }
  if (has_changed) {
    is_used_.store(true, std::memory_order_release);
    Publish();
  }
}

bool CoOwners::Sweep(const void* user, uint64_t now_ms, const DropObsolete& drop) {
  std::set<uint32_t> dropped;
  bool has_more = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = users_.find(user);
    if (found == users_.end()) return false;
    User& known = found->second;
    bool has_changed = false;
    for (auto item = known.owned.begin(); item != known.owned.end();) {
      const auto& [pair, owned] = *item;
      if (owned.until_ms > now_ms || (owned.until_ms == UINT64_MAX && now_ms != UINT64_MAX)) {
        has_more = has_more || owned.until_ms != UINT64_MAX;
        ++item;
        continue;
      }
      FollowAll(pair.first, owned);
      dropped.insert(pair.first);
      item = known.owned.erase(item);
      has_changed = true;
    }
    ForgetUnused(&known);
    if (known.owned.empty()) users_.erase(found);
    dropping_.insert(dropped.begin(), dropped.end());
    if (has_changed) Publish();
  }
  if (dropped.empty()) return has_more;
  // While a scope is in dropping_, no other process looks for its entries (IsShared()).
  for (const uint32_t scope : dropped) drop(scope);
  const std::scoped_lock lock(mutex_);
  for (const uint32_t scope : dropped) dropping_.erase(dropping_.find(scope));
  version_.fetch_add(1, std::memory_order_release);
  return has_more;
}

std::vector<uint64_t> CoOwners::Missing(const void* user) const {
  const std::scoped_lock lock(mutex_);
  std::set<uint64_t> missing;
  const auto found = users_.find(user);
  if (found == users_.end()) return {};
  for (const auto& [pair, owned] : found->second.owned) {
    if (owned.until_ms == UINT64_MAX && !owned.view->is_known) missing.insert(pair.second);
  }
  return {missing.begin(), missing.end()};
}

void CoOwners::SetCounters(const void* user, uint64_t member,
                           std::shared_ptr<cache::FollowedCounters> counters) {
  const std::scoped_lock lock(mutex_);
  const auto found = users_.find(user);
  if (found == users_.end()) return;
  User& known = found->second;
  const bool is_wanted = std::any_of(known.owned.begin(), known.owned.end(),
                                     [&](const auto& item) { return item.first.second == member; });
  // The counters of a process stay the same as long as it lives.
  if (!is_wanted || !known.known.try_emplace(member, Known{std::move(counters)}).second) return;
  for (auto& [pair, owned] : known.owned) {
    if (pair.second == member) owned.view = MakeView(known, member);
  }
  Publish();
}

void CoOwners::SetGone(const void* user, uint64_t member) {
  const std::scoped_lock lock(mutex_);
  const auto found = users_.find(user);
  if (found == users_.end()) return;
  User& known = found->second;
  if (!known.known.try_emplace(member, Known{nullptr}).second) return;
  for (auto& [pair, owned] : known.owned) {
    if (pair.second != member) continue;
    generations_->OfScope(pair.first)->fetch_add(1, std::memory_order_acq_rel);
    owned.view = MakeView(known, member);
  }
  Publish();
}

std::shared_ptr<CoOwners::View> CoOwners::MakeView(const User& user, uint64_t member) const {
  auto view = std::make_shared<View>();
  view->member = member;
  const auto known = user.known.find(member);
  view->is_known = known != user.known.end();
  if (view->is_known) view->counters = known->second.counters;
  return view;
}

void CoOwners::Publish() {
  auto scopes = std::make_shared<Scopes>();
  for (const auto& [user, known] : users_) {
    for (const auto& [pair, owned] : known.owned) {
      // A member of this process uses the same cache, so there are no counters to follow.
      if (owned.view->is_known && owned.view->counters == nullptr) continue;
      Scope& scope = (*scopes)[pair.first];
      scope.place = InvalidationPlaces::OfPrefix(owned.prefix);
      scope.views.push_back(owned.view);
    }
  }
  scopes_ = std::move(scopes);
  version_.fetch_add(1, std::memory_order_release);
}

// Makes everything obsolete in a scope that a member has invalidated.
void CoOwners::FollowAll(uint32_t scope, const Owned& left) {
  cache::FollowedCounters* const counters = left.view->counters.get();
  if (counters == nullptr) return;
  for (size_t place = 0; place < InvalidationPlaces::kTargets; ++place) {
    counters->FollowTarget(place, &generations_->targets[place]);
  }
  counters->FollowPrefix(InvalidationPlaces::OfPrefix(left.prefix), &left.view->seen,
                         generations_->OfScope(scope));
}

void CoOwners::ForgetUnused(User* user) {
  std::erase_if(user->known, [user](const auto& item) {
    return std::none_of(user->owned.begin(), user->owned.end(),
                        [&](const auto& owned) { return owned.first.second == item.first; });
  });
}

// -- For readers.

bool CoOwners::IsShared(uint32_t scope) const {
  if (!is_used_.load(std::memory_order_acquire)) return false;
  const std::scoped_lock lock(mutex_);
  return scopes_->contains(scope) || dropping_.contains(scope);
}

CoOwners::Generation CoOwners::Follow(Snapshot* snapshot, uint32_t scope, std::string_view target) {
  if (snapshot->version != version()) {
    const std::scoped_lock lock(mutex_);
    snapshot->scopes = scopes_;
    snapshot->version = version_.load(std::memory_order_relaxed);
  }
  const size_t place = InvalidationPlaces::OfTarget(target);
  std::atomic<uint64_t>* const of_target = &generations_->targets[place];
  std::atomic<uint64_t>* const of_scope = generations_->OfScope(scope);
  Generation generation;
  const auto found = snapshot->scopes->find(scope);
  if (found != snapshot->scopes->end()) {
    for (const std::shared_ptr<View>& view : found->second.views) {
      generation.is_known = generation.is_known && view->is_known;
      if (view->counters == nullptr) continue;
      view->counters->FollowTarget(place, of_target);
      view->counters->FollowPrefix(found->second.place, &view->seen, of_scope);
    }
  }
  // Both counters only rise: an equal sum means that neither has changed.
  generation.value =
      of_target->load(std::memory_order_acquire) + of_scope->load(std::memory_order_acquire);
  return generation;
}

}  // namespace httpsys::engine
