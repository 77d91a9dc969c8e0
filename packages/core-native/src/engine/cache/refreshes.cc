#include "engine/cache/refreshes.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/unix_sockets.h"
#include "http2/request_text.h"
#include "records/addresses.h"
#include "records/record_writer.h"

namespace httpsys::engine {
namespace {

std::shared_ptr<RelayOrigin> OriginOf(const Connection* connection) {
  auto origin = std::make_shared<RelayOrigin>();
  const Connection* real = connection->real();
  if (const RelayOrigin* relayed = real->origin(); relayed != nullptr) {
    origin->addresses = relayed->addresses;
    origin->facts = relayed->facts;
    origin->trust = relayed->trust;
    origin->is_stream = relayed->is_stream;
  } else {
    origin->addresses = DescribeConnection(real->fd, nullptr);
    if (real->tls != nullptr) {
      origin->facts = EncodeFacts(real->tls->Describe());
      origin->trust = real->tls->trust();
    }
    origin->is_stream = connection->stream != nullptr;
  }
  origin->link = RelayOrigin::kNoLink;
  return origin;
}

}  // namespace

Refreshes::Refreshes(uv_loop_t* loop, ProcessCache* cache, const http1::MethodTable* methods,
                     const Servers* servers, Transport* transport, Input* input,
                     WaitingMisses* waiting, FileOutput::Post post)
    : loop_(loop),
      cache_(cache),
      methods_(methods),
      servers_(servers),
      transport_(transport),
      input_(input),
      waiting_(waiting),
      post_(std::move(post)) {
  uv_timer_init(loop_, &timer_);
  timer_.data = this;
}

void Refreshes::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  cache_->asking_lanes().for_stale.Leave(this);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

bool Refreshes::HasPlace(const Connection* connection, const std::string& key) const {
  const uint32_t server_id = connection->server()->id;
  const auto count = std::count_if(keys_.begin(), keys_.end(),
                                   [=](const auto& entry) { return entry.second == server_id; });
  return static_cast<size_t>(count) < kServerMax && !keys_.contains(key);
}

void Refreshes::BeginStale(const Connection* connection, http1::RequestHead request,
                           const std::string& key, ProcessCache::StoreMark mark) {
  if (!HasPlace(connection, key) || !cache_->asking_lanes().for_stale.Claim(this, key)) return;
  // Another lane may have refreshed the entry since this lane has found it.
  if (!cache_->IsCurrent(mark)) return cache_->asking_lanes().for_stale.Pass(this, key);
  Begin(connection, std::move(request), key, false);
}

bool Refreshes::BeginAwaited(const Connection* connection, http1::RequestHead request,
                             const std::string& key) {
  if (!HasPlace(connection, key)) return false;
  Begin(connection, std::move(request), key, true);
  return true;
}

void Refreshes::Begin(const Connection* connection, http1::RequestHead request,
                      const std::string& key, bool is_awaited) {
  const uint32_t server_id = connection->server()->id;
  keys_.emplace(key, server_id);
  auto start = std::make_shared<Start>();
  start->refresh.key = key;
  start->refresh.server_id = server_id;
  start->refresh.is_awaited = is_awaited;
  start->refresh.deadline_ms = uv_now(loop_) + connection->server()->config->cache()->refresh_ms;
  start->origin = OriginOf(connection);
  // If the lane itself must answer (when the queue is full), `close` ends the connection.
  request.lines.push_back({"Connection", "close"});
  (void)http2::AppendRequestHead(*methods_, request, &start->text);
  post_([this, start] { Open(*start); });
}

bool Refreshes::TakeAwaited(const Connection* connection, std::string* key) {
  const auto found = by_connection_.find(connection);
  if (found == by_connection_.end() || !found->second.is_awaited) return false;
  found->second.is_awaited = false;
  key->assign(found->second.key);
  return true;
}

void Refreshes::Open(const Start& start) {
  if (is_closed_) return;
  const auto server = servers_->find(start.refresh.server_id);
  int ends[2];
  if (server == servers_->end() || server->second->is_unlistened || !OpenUnixPair(ends)) {
    return Forget(start.refresh);
  }
  transport_->CountLoad();
  Connection* const connection =
      transport_->Open(ends[1], server->second.get(), std::make_unique<RelayOrigin>(*start.origin));
  if (connection == nullptr) {
    close(ends[0]);
    return Forget(start.refresh);
  }
  Refresh refresh = start.refresh;
  refresh.connection = connection;
  refresh.other_end = ends[0];
  by_connection_.emplace(connection, std::move(refresh));
  ArmTimer();
  input_->Receive(connection, start.text);
  if (connection->is_open()) transport_->Watch(connection);
}

void Refreshes::OnDetached(const Connection* connection) {
  if (by_connection_.empty()) return;
  const auto found = by_connection_.find(connection);
  if (found == by_connection_.end()) return;
  const Refresh refresh = std::move(found->second);
  by_connection_.erase(found);
  close(refresh.other_end);
  ArmTimer();
  Forget(refresh);
}

void Refreshes::GiveUpOverdue() {
  std::vector<Connection*> overdue;
  for (const auto& [connection, refresh] : by_connection_) {
    if (refresh.deadline_ms <= uv_now(loop_)) overdue.push_back(refresh.connection);
  }
  // JavaScript sees a client that disconnects. Closing one connection may close others.
  for (Connection* connection : overdue) {
    if (by_connection_.contains(connection)) transport_->Close(connection, 0);
  }
  ArmTimer();
}

void Refreshes::ArmTimer() {
  if (is_closed_) return;
  const auto first = std::min_element(
      by_connection_.begin(), by_connection_.end(),
      [](const auto& a, const auto& b) { return a.second.deadline_ms < b.second.deadline_ms; });
  if (first == by_connection_.end()) {
    uv_timer_stop(&timer_);
    return;
  }
  const uint64_t deadline_ms = first->second.deadline_ms;
  const uint64_t now_ms = uv_now(loop_);
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<Refreshes*>(timer->data)->GiveUpOverdue(); },
      deadline_ms > now_ms ? deadline_ms - now_ms : 0, 0);
}

void Refreshes::Forget(const Refresh& refresh) {
  keys_.erase(refresh.key);
  cache_->asking_lanes().for_stale.Pass(this, refresh.key);
  // The waiting requests now go to JavaScript themselves.
  if (refresh.is_awaited) waiting_->OnDecided(refresh.key, WaitingMisses::Decision::kUnknown);
}

}  // namespace httpsys::engine
