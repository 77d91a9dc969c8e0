#include "engine/shared_cache/arena_links.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "cache/arena_layout.h"
#include "cache/arena_reader.h"
#include "cache/invalidation_counters.h"
#include "engine/connection/connected_socket.h"
#include "sharing/meeting_place.h"

namespace httpsys::engine {
namespace {

using Owner = sharing::PortRoutes::Owner;

// Returns the scope of a server of this engine, and the other members that own it.
CoOwners::Shared SharedOf(const Owner& own, const std::vector<uint64_t>& members,
                          const LaneServers& servers) {
  CoOwners::Shared shared;
  shared.members = members;
  const auto server = servers.find(own.server_id);
  if (server == servers.end() || server->second->config->cache() == nullptr) return shared;
  const ServerConfig& config = *server->second->config;
  shared.scope = config.cache()->ScopeOf(own.prefix_id);
  if (shared.scope != 0 && config.has_prefixes()) {
    shared.prefix = config.PrefixText(own.prefix_id);
  }
  return shared;
}

}  // namespace

std::vector<CoOwners::Shared> FindCoOwnedScopes(
    const std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>>& routes,
    const LaneServers& servers) {
  std::vector<CoOwners::Shared> found;
  std::vector<uint64_t> members;
  for (const auto& [port, version] : routes) {
    for (uint32_t id = 0; id < version->target_limit(); ++id) {
      const std::vector<Owner>& owners = version->target(id).owners;
      if (owners.size() < 2) continue;
      members.clear();
      for (const Owner& owner : owners) {
        if (owner.member != 0 && owner.is_cached) members.push_back(owner.member);
      }
      if (members.empty()) continue;
      for (const Owner& owner : owners) {
        if (owner.member != 0 || !owner.is_cached) continue;
        found.push_back(SharedOf(owner, members, servers));
      }
    }
  }
  return found;
}

using cache::SharedMemory;
using peer::FrameType;
using sharing::Channel;

namespace {

uint64_t LinkClockMs() { return uv_hrtime() / 1'000'000; }

bool IsSameFile(int one, int other) {
  struct stat first {};
  struct stat second {};
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

ArenaLinks::ArenaLinks(uv_loop_t* loop, uint64_t self, ForeignArenas* arenas, ProcessCache* cache,
                       const LaneServers* servers)
    : loop_(loop), self_(self), arenas_(arenas), cache_(cache), servers_(servers) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void ArenaLinks::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  for (const auto& [member, channel] : links_) channel->Close();
  arenas_->ForgetIf([](uint64_t, const ForeignArena&) { return true; });
  CoOwners& owners = cache_->co_owners();
  owners.Set(this, {}, 0);
  (void)owners.Sweep(this, UINT64_MAX, [this](uint32_t scope) { cache_->DropObsolete(scope); });
  links_.clear();
  members_.clear();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

// -- Requests to owners.

void ArenaLinks::Ask(uint64_t member, uint32_t server_id, uint32_t prefix_id) {
  if (is_closed_ || given_up_.contains(member)) return;
  const auto found = links_.find(member);
  Channel* const channel = found == links_.end() ? Connect(member) : found->second;
  const bool is_asked =
      channel != nullptr && channel->unsent_bytes() <= limits::kPeerUnsentBytesMax &&
      channel->Send(FrameType::kCacheAsk, peer::Encode(peer::CacheAsk{server_id, prefix_id}));
  if (!is_asked) GiveUp(member);
}

Channel* ArenaLinks::Connect(uint64_t member) {
  const int fd = sharing::ConnectTo(sharing::MemberName(member));
  if (fd < 0) return nullptr;
  if (!sharing::IsOwnUser(fd) || !LeavesDescriptors(fd)) {
    close(fd);
    return nullptr;
  }
  const std::shared_ptr<SharedMemory> hits = SharedMemory::Create(limits::kCacheHitsBytes);
  auto* const channel = new Channel(loop_, fd, this);
  peer::Link hello;
  hello.id = self_;
  // Without the descriptor of `hits`, the owner cannot count this reader's hits.
  const bool is_begun =
      channel->Start() == 0 && channel->Send(FrameType::kLink, peer::Encode(hello)) &&
      (hits == nullptr || hits->fd() == -1 || channel->Send(FrameType::kCacheHits, {}, hits->fd()));
  if (!is_begun) {
    channel->Close();
    return nullptr;
  }
  links_[member] = channel;
  members_[channel] = member;
  arenas_->Update(member, [&](ForeignArena* arena) { arena->hits = hits; });
  return channel;
}

void ArenaLinks::GiveUp(uint64_t member) {
  const auto found = links_.find(member);
  if (found != links_.end()) {
    members_.erase(found->second);
    found->second->Close();
    links_.erase(found);
  }
  arenas_->Update(member, [](ForeignArena* arena) {
    arena->index = nullptr;
    arena->chunks.clear();
    ++arena->memory_version;
  });
  asked_.erase(member);
  given_up_[member] = uv_now(loop_) + limits::kCacheAskMs;
  ArmTimer();
}

// -- Frames of owners.

void ArenaLinks::OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) {
  const auto found = members_.find(channel);
  bool is_sound = found != members_.end() && fds.size() <= 1;
  if (is_sound) {
    const uint64_t member = found->second;
    const int fd = fds.empty() ? -1 : fds[0];
    switch (frame.type) {
      case FrameType::kCacheIndex:
        OnIndex(member, fd);
        break;
      case FrameType::kCacheChunk:
        is_sound = OnChunk(member, frame, fd);
        break;
      case FrameType::kCacheGone:
        is_sound = OnGone(member, frame);
        break;
      case FrameType::kCacheScope:
        is_sound = OnScope(member, frame);
        break;
      case FrameType::kCacheCounters:
        is_sound = OnCounters(member, fd);
        break;
      default:
        break;  // Ignore frame types of later protocol versions.
    }
  }
  for (const int fd : fds) close(fd);
  if (!is_sound && found != members_.end()) GiveUp(found->second);
}

void ArenaLinks::OnIndex(uint64_t member, int fd) {
  std::shared_ptr<const SharedMemory> index;
  if (fd != -1) index = SharedMemory::Map(fd, cache::kIndexBytesMax);
  const std::unique_ptr<cache::ArenaReader> reader = cache::ArenaReader::Open(index);
  arenas_->Update(member, [&](ForeignArena* arena) {
    arena->index = reader == nullptr ? nullptr : index;
    arena->chunks.clear();
    if (reader != nullptr) arena->chunks.resize(reader->shape().chunks_max);
    ++arena->memory_version;
  });
}

// Maps a chunk of an owner's arena. If it is too small for the index, no entries are found in it.
bool ArenaLinks::OnChunk(uint64_t member, const peer::Frame& frame, int fd) {
  peer::CacheChunk told;
  if (!peer::Decode(frame.payload, &told)) return false;
  std::shared_ptr<const SharedMemory> memory;
  constexpr size_t kChunkBytesMax = size_t{cache::kSegmentBytesMax} * cache::kSegmentsPerChunk;
  if (fd != -1) memory = SharedMemory::Map(fd, kChunkBytesMax);
  bool is_sound = true;
  arenas_->Update(member, [&](ForeignArena* arena) {
    if (arena->index == nullptr) return;
    is_sound = told.chunk < arena->chunks.size();
    if (!is_sound) return;
    arena->chunks[told.chunk] = {std::move(memory), told.serial};
    ++arena->memory_version;
  });
  return is_sound;
}

bool ArenaLinks::OnGone(uint64_t member, const peer::Frame& frame) {
  peer::CacheGone told;
  if (!peer::Decode(frame.payload, &told)) return false;
  arenas_->Update(member, [&](ForeignArena* arena) {
    if (told.chunk >= arena->chunks.size()) return;
    arena->chunks[told.chunk] = {};
    ++arena->memory_version;
  });
  return true;
}

// Stores a scope that an owner has sent, if this process has requested it.
bool ArenaLinks::OnScope(uint64_t member, const peer::Frame& frame) {
  peer::CacheScope told;
  if (!peer::Decode(frame.payload, &told)) return false;
  ForeignScope scope;
  scope.key = ForeignScope::Key(told.server_id, told.prefix_id);
  scope.scope = told.scope;
  scope.flags = told.flags;
  scope.terms = std::move(told.terms);
  scope.has_prefix = ParseUrlPrefix(told.prefix, &scope.prefix) == PrefixError::kNone;
  // The terms of a scope must fit the scheme of its prefix.
  if (scope.has_prefix && scope.prefix.is_https == scope.terms.empty()) return false;
  // Small numbers are ports in cache keys, so they are no valid scopes.
  if (scope.scope != 0 && scope.scope <= UINT16_MAX) return false;
  arenas_->Update(member, [&](ForeignArena* arena) {
    if (arena->scopes.Find(scope.key) != nullptr) ForeignArenas::SetScope(scope, arena);
  });
  return true;
}

// -- Members that own prefixes of this engine, too.

void ArenaLinks::UpdateOwners() {
  std::vector<CoOwners::Shared> shared = FindCoOwnedScopes(routes_, *servers_);
  has_shared_ = !shared.empty();
  std::erase_if(shared, [](const CoOwners::Shared& one) { return one.scope == 0; });
  cache_->co_owners().Set(this, shared, LinkClockMs());
  SweepOwners();
  ArmTimer();
}

void ArenaLinks::SweepOwners() {
  CoOwners& owners = cache_->co_owners();
  const uint64_t version = owners_version_;
  has_former_ =
      owners.Sweep(this, LinkClockMs(), [this](uint32_t scope) { cache_->DropObsolete(scope); });
  owners_version_ = owners.version();
  if (owners_version_ != version) cache_->Announce();
  std::vector<uint64_t> missing = owners.Missing(this);
  for (const uint64_t member : missing) Follow(member);
  if (missing == missing_) return;
  missing_ = std::move(missing);
  missing_since_ms_ = uv_now(loop_);
}

void ArenaLinks::Follow(uint64_t member) {
  if (is_closed_ || asked_.contains(member)) return;
  // The routes may name a killed process. Do not wait for it: nothing would be stored meanwhile.
  if (!links_.contains(member) && sharing::IsGone(member)) {
    return cache_->co_owners().SetGone(this, member);
  }
  if (given_up_.contains(member)) return;
  const auto found = links_.find(member);
  const bool has_room = found != links_.end() || links_.size() < limits::kCacheReadersMax;
  Channel* const channel = found != links_.end() ? found->second : nullptr;
  Channel* const asked = channel == nullptr && has_room ? Connect(member) : channel;
  if (asked == nullptr || !asked->Send(FrameType::kCacheFollow, {})) return GiveUp(member);
  asked_.insert(member);
}

bool ArenaLinks::OnCounters(uint64_t member, int fd) {
  if (fd == -1) return false;
  // Now the member can be asked again, if it leaves a scope and comes back over the same link.
  asked_.erase(member);
  const std::shared_ptr<const SharedMemory> own = cache_->co_owners().Share();
  if (own != nullptr && own->fd() != -1 && IsSameFile(fd, own->fd())) {
    cache_->co_owners().SetCounters(this, member, nullptr);
    SweepOwners();
    return true;
  }
  auto counters =
      cache::FollowedCounters::Over(SharedMemory::Map(fd, cache::InvalidationPlaces::kBytes));
  if (counters == nullptr) return false;
  cache_->co_owners().SetCounters(this, member, std::move(counters));
  SweepOwners();
  return true;
}

// -- Members that have gone.

void ArenaLinks::OnBroken(Channel* channel) {
  const auto found = members_.find(channel);
  if (found == members_.end()) {
    channel->Close();
    return;
  }
  // The system closes the sockets of a killed process one by one, so its name may still exist.
  // Until its end is certain, the arena answers only for owners that cannot be reached.
  const uint64_t member = found->second;
  asked_.erase(member);
  members_.erase(found);
  links_.erase(member);
  channel->Close();
  bool has_arena = false;
  arenas_->Update(member, [&](ForeignArena* arena) {
    has_arena = true;
    arena->orphaned_ms = LinkClockMs();
  });
  // Without an arena, give up only the link: counters that the member has sent stay valid.
  if (!has_arena) return GiveUp(member);
  orphaned_.insert(member);
  if (!sharing::IsGone(member)) doubtful_[member] = uv_now(loop_) + limits::kCacheAskMs;
  EndScopes(member);
  ArmTimer();
}

void ArenaLinks::OnRoutes(std::shared_ptr<const sharing::PortRoutes> routes) {
  const uint16_t port = routes->port();
  if (routes->has_peers()) {
    routes_[port] = std::move(routes);
  } else {
    routes_.erase(port);
  }
  std::vector<uint64_t> left;
  for (const auto& [member, channel] : links_) {
    // New routes without a killed process may arrive before the end of its link.
    const bool is_there = std::any_of(routes_.begin(), routes_.end(), [=](const auto& item) {
      return IsPeer(*item.second, member);
    });
    if (!is_there && !sharing::IsGone(member)) left.push_back(member);
  }
  for (const uint64_t member : left) GiveUp(member);
  for (const uint64_t member : orphaned_) EndScopes(member);
  UpdateOwners();
}

bool ArenaLinks::IsPeer(const sharing::PortRoutes& routes, uint64_t member) {
  const std::vector<uint64_t>& peers = routes.peers();
  return std::find(peers.begin(), peers.end(), member) != peers.end();
}

// Ends scopes that have an owner in the present routes. The routes lack the killed process, so such
// an owner is another process.
void ArenaLinks::EndScopes(uint64_t member) {
  arenas_->Update(member, [&](ForeignArena* arena) {
    std::vector<ForeignScope> over;
    arena->scopes.ForEach([&](const ForeignScope& scope) {
      const auto routes = routes_.find(scope.prefix.port);
      if (scope.scope != 0 && scope.has_prefix && routes != routes_.end() &&
          !IsPeer(*routes->second, member) && routes->second->CountOwners(scope.prefix) != 0) {
        over.push_back(scope);
      }
    });
    for (ForeignScope& scope : over) {
      scope.scope = 0;
      ForeignArenas::SetScope(std::move(scope), arena);
    }
  });
}

void ArenaLinks::Sweep() {
  const uint64_t now_ms = uv_now(loop_);
  std::erase_if(given_up_, [&](const auto& item) {
    if (item.second > now_ms) return false;
    arenas_->Forget(item.first);
    return true;
  });
  std::erase_if(doubtful_, [&](const auto& item) {
    const auto [member, until_ms] = item;
    if (sharing::IsGone(member)) return true;
    if (until_ms > now_ms) return false;
    // The process is alive, and has ended the link.
    orphaned_.erase(member);
    arenas_->Forget(member);
    return true;
  });
  const uint64_t oldest_ms = LinkClockMs() - std::min(LinkClockMs(), limits::kCacheOrphanMs);
  arenas_->ForgetIf([&](uint64_t member, const ForeignArena& arena) {
    const bool is_over = arena.orphaned_ms != 0 && arena.orphaned_ms <= oldest_ms;
    if (is_over) orphaned_.erase(member);
    return is_over;
  });
  SweepOwners();
  ArmTimer();
}

void ArenaLinks::ArmTimer() {
  const bool is_needed =
      !given_up_.empty() || !missing_.empty() || !orphaned_.empty() || has_former_;
  if (!is_needed || is_closed_) return;
  // Be quick at first, to find missing owners that have ended. Living owners may delay counters.
  const bool is_soon =
      !doubtful_.empty() ||
      (!missing_.empty() && uv_now(loop_) - missing_since_ms_ < limits::kCacheAskMs);
  const uint64_t wait_ms = is_soon ? limits::kCacheTellMs : limits::kCacheAskMs;
  const bool is_set = uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0;
  if (is_set && uv_timer_get_due_in(&timer_) <= wait_ms) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<ArenaLinks*>(timer->data)->Sweep(); }, wait_ms,
      0);
}

}  // namespace httpsys::engine
