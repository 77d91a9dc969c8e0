#include "engine/cache/waiting_misses.h"

#include <algorithm>
#include <utility>

namespace httpsys::engine {
namespace {

CacheCounters* CountersOf(const Connection* connection) {
  const CacheTerms* terms = connection->server()->config->cache();
  return terms == nullptr ? nullptr : terms->counters.get();
}

void Count(const Connection* connection, CacheCounter counter) {
  if (CacheCounters* counters = CountersOf(connection)) counters->Add(counter);
}

}  // namespace

WaitingMisses::WaitingMisses(uv_loop_t* loop, Input* input, OutputPass* output, LeadingLanes* lanes,
                             StorableKeys* keys, FileOutput::Post post)
    : loop_(loop),
      input_(input),
      output_(output),
      lanes_(lanes),
      keys_(keys),
      post_(std::move(post)) {
  uv_timer_init(loop_, &timer_);
  timer_.data = this;
  lanes_->Enter(this, [this](const std::string& key, LeadingLanes::Event event) {
    post_([this, key, event] { OnEvent(key, event); });
  });
}

void WaitingMisses::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  lanes_->Leave(this);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

bool WaitingMisses::IsAwaited(const Miss& miss) const {
  switch (keys_->Find(miss.hash)) {
    case StorableKeys::Last::kStored:
      return true;
    case StorableKeys::Last::kNotStored:
      return false;
    case StorableKeys::Last::kUnknown:
      break;
  }
  return miss.is_storable;
}

WaitingMisses::Turn WaitingMisses::Join(Connection* connection, const Miss& miss) {
  const std::string& key = miss.key;
  DropClaim();
  if (resumed_ == connection) {
    resumed_ = nullptr;
    // With another key the request wants another variant, which has another leader.
    if (resumed_key_ == key) {
      if (resumed_turn_ == Turn::kGoesOn) Count(connection, CacheCounter::kReleased);
      return resumed_turn_;
    }
  }
  if (const auto found = waiting_.find(connection); found != waiting_.end()) {
    // The input was resumed for another reason. The same key is the same request: keep waiting.
    if (found->second.key == key) return Turn::kWaits;
    TakeOut(connection);
  }
  const bool may_wait = connection->server()->config->cache()->coalesce_ms != 0;
  if (!may_wait || !IsAwaited(miss)) return Turn::kGoesOn;
  const auto found = waits_.find(key);
  if (found == waits_.end() && !miss.may_lead) return Turn::kGoesOn;
  if (waiting_.size() >= kWaitingAllMax) return Turn::kGoesOn;
  if (found == waits_.end()) {
    if (lanes_->Begin(this, key)) {
      claimed_.assign(key);
      return Turn::kLeads;
    }
    Wait& wait = waits_[key];
    wait.hash = miss.hash;
    wait.is_elsewhere = true;
  } else if (found->second.connections.size() >= kWaitingMax) {
    return Turn::kGoesOn;
  }
  Add(connection, {key, DeadlineOf(connection), false});
  Count(connection, CacheCounter::kCoalesced);
  return Turn::kWaits;
}

void WaitingMisses::DropClaim() {
  if (claimed_.empty()) return;
  lanes_->Pass(this, claimed_);
  claimed_.clear();
}

void WaitingMisses::WaitFirst(Connection* connection, const std::string& key) {
  Add(connection, {key, resumed_deadline_ms_, true});
}

uint64_t WaitingMisses::DeadlineOf(const Connection* connection) const {
  const ServerConfig& config = *connection->server()->config;
  const uint32_t queue_ms = config.settings().queue_timeout;
  const uint32_t most_ms = config.cache()->coalesce_ms;
  return uv_now(loop_) + (queue_ms == 0 ? most_ms : std::min(most_ms, queue_ms));
}

void WaitingMisses::Add(Connection* connection, Waiter waiter) {
  std::deque<Connection*>& connections = waits_[waiter.key].connections;
  connections.insert(waiter.was_first ? connections.begin() : connections.end(), connection);
  if (look_due_ms_ == 0) look_due_ms_ = uv_now(loop_) + kLookMs;
  ArmFor(look_due_ms_);
  // Arm for this deadline, too: requests of different servers may wait for different times.
  ArmFor(waiter.deadline_ms);
  waiting_.emplace(connection, std::move(waiter));
}

void WaitingMisses::Lead(const Connection* connection, const std::string& key, uint64_t hash) {
  Wait& wait = waits_[key];
  wait.hash = hash;
  wait.leader = connection;
  wait.was_held = false;
  wait.is_elsewhere = false;
  if (claimed_ == key) claimed_.clear();
}

bool WaitingMisses::LeadLate(const Connection* connection, const std::string& key, uint64_t hash) {
  DropClaim();
  // The last response was not stored in time, so other requests would wait for this one in vain.
  if (keys_->Find(hash) == StorableKeys::Last::kNotStored) return false;
  if (waits_.contains(key) || !lanes_->Claim(this, key)) return false;
  keys_->Note(hash, true);
  Lead(connection, key, hash);
  return true;
}

void WaitingMisses::OnDecided(const std::string& key, Decision decision) {
  lanes_->Finish(this, key, decision);
  const auto found = waits_.find(key);
  if (found == waits_.end()) return;
  if (found->second.connections.empty()) {
    waits_.erase(found);
    return;
  }
  const Turn turn = decision == Decision::kFailed ? Turn::kFailed : Turn::kGoesOn;
  // From here on, the end of the leader's connection has no effect.
  found->second.leader = nullptr;
  post_([this, key, turn] { Release(key, turn); });
}

void WaitingMisses::OnLost(const Connection* connection, const std::string& key) {
  const auto found = waits_.find(key);
  if (found == waits_.end() || found->second.leader != connection) return;
  found->second.leader = nullptr;
  if (found->second.connections.empty()) return LetNextLead(key);
  post_([this, key] { LetNextLead(key); });
}

void WaitingMisses::OnEvent(const std::string& key, LeadingLanes::Event event) {
  using Event = LeadingLanes::Event;
  if (is_closed_) return;
  const auto found = waits_.find(key);
  const bool waits_elsewhere = found != waits_.end() && found->second.is_elsewhere;
  switch (event) {
    case Event::kLook:
      if (found == waits_.end()) {
        lanes_->Pass(this, key);
      } else if (IsHeld(&found->second)) {
        ReplaceLeader(key);
      }
      return;
    case Event::kLeadsNow:
      if (found == waits_.end()) {
        lanes_->Pass(this, key);
      } else if (waits_elsewhere) {
        found->second.is_elsewhere = false;
        LetNextLead(key);
      }
      return;
    default:
      if (waits_elsewhere) Release(key, event == Event::kFailed ? Turn::kFailed : Turn::kGoesOn);
      return;
  }
}

void WaitingMisses::Resume(Connection* connection, Turn turn, const Waiter& waiter) {
  resumed_ = connection;
  resumed_key_ = waiter.key;
  resumed_turn_ = turn;
  resumed_deadline_ms_ = waiter.deadline_ms;
  input_->Resume(connection, kPauseOrder);
  // The request has not called Join(): it has gone to another owner or was answered by an entry.
  resumed_ = nullptr;
}

void WaitingMisses::Release(const std::string& key, Turn turn) {
  const auto found = waits_.find(key);
  if (found == waits_.end()) return;
  const std::deque<Connection*> connections = std::move(found->second.connections);
  waits_.erase(found);
  std::vector<Connection*> released;
  released.reserve(connections.size());
  // Resuming one connection may close others, which are then not in waiting_ any more.
  for (Connection* connection : connections) {
    if (waiting_.contains(connection)) released.push_back(connection);
  }
  for (Connection* connection : released) {
    const auto node = waiting_.extract(connection);
    if (!node.empty()) Resume(connection, turn, node.mapped());
  }
}

void WaitingMisses::LetNextLead(const std::string& key) {
  for (;;) {
    const auto found = waits_.find(key);
    if (found == waits_.end()) return;
    if (found->second.leader != nullptr || found->second.is_elsewhere) return;
    if (found->second.connections.empty()) {
      waits_.erase(found);
      lanes_->Pass(this, key);
      return;
    }
    Connection* const next = found->second.connections.front();
    found->second.connections.pop_front();
    // A request leads itself when it waits again, so that each failure costs one waiting request.
    const auto node = waiting_.extract(next);
    const Waiter& waiter = node.mapped();
    Resume(next, waiter.was_first ? Turn::kLeads : Turn::kLeadsAnew, waiter);
    const auto again = waiting_.find(next);
    // The request waits again, because the lane itself has sent a request to JavaScript.
    if (again != waiting_.end() && again->second.key == key) return;
  }
}

void WaitingMisses::TakeOut(Connection* connection) {
  const auto waiter = waiting_.find(connection);
  if (waiter == waiting_.end()) return;
  const auto wait = waits_.find(waiter->second.key);
  if (wait != waits_.end()) std::erase(wait->second.connections, connection);
  waiting_.erase(waiter);
}

void WaitingMisses::OnDetached(Connection* connection) {
  if (!waiting_.empty()) TakeOut(connection);
}

void WaitingMisses::OnTimer() {
  timer_due_ms_ = 0;
  if (look_due_ms_ <= uv_now(loop_)) ReplaceHeldLeaders();
  GiveUpOverdue();
  look_due_ms_ = waiting_.empty() ? 0 : std::max(look_due_ms_, uv_now(loop_) + 1);
  if (look_due_ms_ != 0) ArmFor(look_due_ms_);
}

// Replaces leaders whose client has not taken all output at two checks: JavaScript sends no faster
// than the client reads, and a slow client must not delay all others.
void WaitingMisses::ReplaceHeldLeaders() {
  look_due_ms_ = uv_now(loop_) + kLookMs;
  std::vector<std::string> held;
  for (auto& [key, wait] : waits_) {
    if (wait.connections.empty()) continue;
    if (wait.is_elsewhere) lanes_->Look(key);
    if (IsHeld(&wait)) held.push_back(key);
  }
  for (const std::string& key : held) ReplaceLeader(key);
}

bool WaitingMisses::IsHeld(Wait* wait) const {
  // Several lanes may order a check: ignore an order soon after another one.
  const bool is_due = uv_now(loop_) >= wait->looked_ms + kLookMs / 2;
  if (wait->leader == nullptr || !is_due) return false;
  wait->looked_ms = uv_now(loop_);
  const Connection& leader = *wait->leader;
  const bool is_held = leader.stream != nullptr ? output_->OutputBytes(&leader) != 0
                                                : OutputPass::UnsentBytes(leader) != 0;
  return std::exchange(wait->was_held, is_held) && is_held;
}

void WaitingMisses::ReplaceLeader(const std::string& key) {
  const auto found = waits_.find(key);
  if (found == waits_.end()) return;
  found->second.leader = nullptr;
  LetNextLead(key);
}

// Notes that answers with this key are not worth waiting for, because a request has waited too
// long: otherwise each later request would wait as long for a handler that hangs.
void WaitingMisses::GiveUp(const std::string& key) {
  const auto found = waits_.find(key);
  if (found == waits_.end()) return;
  keys_->Note(found->second.hash, false);
  lanes_->GiveUp(key);
  Release(key, Turn::kGoesOn);
}

void WaitingMisses::GiveUpOverdue() {
  std::vector<std::string> overdue;
  uint64_t next_ms = 0;
  for (const auto& [connection, waiter] : waiting_) {
    if (waiter.deadline_ms <= uv_now(loop_)) {
      overdue.push_back(waiter.key);
    } else {
      next_ms = next_ms == 0 ? waiter.deadline_ms : std::min(next_ms, waiter.deadline_ms);
    }
  }
  for (const std::string& key : overdue) GiveUp(key);
  if (next_ms != 0) ArmFor(next_ms);
}

void WaitingMisses::ArmFor(uint64_t due_ms) {
  if (timer_due_ms_ == 0 || due_ms < timer_due_ms_) ArmTimer(due_ms);
}

void WaitingMisses::ArmTimer(uint64_t due_ms) {
  if (is_closed_) return;
  timer_due_ms_ = due_ms;
  const uint64_t now_ms = uv_now(loop_);
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<WaitingMisses*>(timer->data)->OnTimer(); },
      due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

}  // namespace httpsys::engine
