#include "engine/connection/throttle.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;

}  // namespace

Throttle::Throttle(uv_loop_t* loop, std::function<void(Connection*)> on_released)
    : on_released_(std::move(on_released)) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void Throttle::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

std::shared_ptr<RateBucket> Throttle::BucketOf(const Connection& connection, uint32_t prefix_id) {
  LaneServer* server = connection.server();
  if (server->config->settings().max_bandwidth == 0 || server->bandwidths == nullptr) {
    return nullptr;
  }
  const uint32_t id = server->config->has_prefixes() ? prefix_id : 0;
  if (id >= server->buckets.size()) server->buckets.resize(size_t{id} + 1);
  std::shared_ptr<RateBucket>& bucket = server->buckets[id];
  if (bucket == nullptr) {
    bucket = server->bandwidths->Of(server->id, *server->config, id, connection.local_port);
  }
  return bucket;
}

bool Throttle::Change(Connection* connection, std::shared_ptr<RateBucket> bucket) {
  UncommonState::Bandwidth& state = connection->uncommon().bandwidth;
  if (state.bucket == bucket) return true;
  if (connection->message.unanswered() != 0 || !connection->output.is_empty()) return false;
  End(connection);
  state.bucket = std::move(bucket);
  return true;
}

void Throttle::Leave(Connection* connection) {
  UncommonState::Bandwidth& state = connection->uncommon().bandwidth;
  if (state.ticket != 0) {
    const auto line = lines_.find(state.bucket.get());
    line->second.waiting.erase(state.ticket);
    if (line->second.waiting.empty()) lines_.erase(line);
  }
  if (state.allowance != 0) state.bucket->Return(state.allowance, uv_hrtime());
  state.bucket.reset();
  state.ticket = 0;
  state.allowance = 0;
}

size_t Throttle::Take(Connection* connection, size_t want) {
  UncommonState::Bandwidth& state = connection->uncommon().bandwidth;
  if (state.ticket != 0) return 0;
  if (state.allowance != 0) return std::min(want, state.allowance);
  const uint64_t now_ns = uv_hrtime();
  const RateBucket::Taken taken = state.bucket->Take(want, now_ns);
  state.allowance = taken.bytes;
  if (taken.ticket == 0) return state.allowance;
  state.ticket = taken.ticket;
  state.was_held = true;
  Line& line = lines_[state.bucket.get()];
  if (line.bucket == nullptr) line.bucket = state.bucket;
  line.waiting.emplace(taken.ticket, connection);
  Arm(state.bucket->WaitNs(line.waiting.begin()->first, now_ns));
  return 0;
}

void Throttle::Spend(Connection* connection, size_t bytes) {
  size_t& allowance = connection->uncommon().bandwidth.allowance;
  allowance -= std::min(allowance, bytes);
}

bool Throttle::TakeHeld(Connection* connection) {
  if (!connection->is_throttled()) return false;
  UncommonState::Bandwidth& state = connection->uncommon().bandwidth;
  return std::exchange(state.was_held, state.ticket != 0);
}

void Throttle::Arm(uint64_t wait_ns) {
  const uint64_t wait_ms = std::clamp((wait_ns + kNsPerMs - 1) / kNsPerMs,
                                      limits::kBandwidthLookMsMin, limits::kBandwidthLookMsMax);
  const bool is_set = uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0;
  if (is_set && uv_timer_get_due_in(&timer_) <= wait_ms) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<Throttle*>(timer->data)->Release(); }, wait_ms,
      0);
}

// Releases the connections whose tickets are due. A connection with more output gets a new ticket.
void Throttle::Release() {
  const uint64_t now_ns = uv_hrtime();
  std::vector<Connection*> released;
  for (auto line = lines_.begin(); line != lines_.end();) {
    auto& [bucket, waiting] = line->second;
    uint64_t wait_ns = 0;
    while (!waiting.empty()) {
      const auto [ticket, connection] = *waiting.begin();
      wait_ns = bucket->WaitNs(ticket, now_ns);
      if (wait_ns != 0) break;
      connection->uncommon().bandwidth.ticket = 0;
      released.push_back(connection);
      waiting.erase(waiting.begin());
    }
    if (waiting.empty()) {
      line = lines_.erase(line);
    } else {
      Arm(wait_ns);
      ++line;
    }
  }
  // Connections are freed only in a later turn of the loop, so the pointers stay valid.
  for (Connection* connection : released) {
    if (connection->is_open()) on_released_(connection);
  }
}

}  // namespace httpsys::engine
