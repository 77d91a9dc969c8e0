#include "engine/peers/port_router.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/http1/http1_session.h"
#include "http1/request_host.h"

namespace httpsys::engine {

PortRouter::PortRouter(uv_loop_t* loop, uint64_t self, const http1::MethodTable* methods,
                       const RequestQueue* queue, LaneServers* servers, PortStatistics* statistics)
    : self_(self),
      queue_(queue),
      servers_(servers),
      statistics_(statistics),
      links_(loop, self, this),
      relays_(loop, &links_, this),
      parser_(methods) {
  uv_timer_init(loop, &timer_);
  uv_timer_init(loop, &free_timer_);
  timer_.data = free_timer_.data = this;
}

void PortRouter::Start(Transport* transport, Http1Session* session, Http2Session* http2) {
  transport_ = transport;
  session_ = session;
  relays_.Start(transport, session, http2);
}

void PortRouter::Close() {
  relays_.Close();
  links_.Close();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&free_timer_), nullptr);
}

// -- Routes.

const PortRouter::Port* PortRouter::Find(uint16_t number) const {
  for (const Port& port : ports_) {
    if (port.routes->port() == number) return &port;
  }
  return nullptr;
}

PortRouter::Port* PortRouter::Find(uint16_t number) {
  return const_cast<Port*>(std::as_const(*this).Find(number));
}

void PortRouter::Port::SetRoutes(std::shared_ptr<const Routes> next) {
  routes = std::move(next);
  turns.assign(routes->target_count(), 0);
  waiting.assign(routes->target_count(), 0);
}

void PortRouter::SetRoutes(std::shared_ptr<const Routes> routes) {
  const uint16_t number = routes->port();
  const bool is_used = routes->is_used();
  if (Port* port = Find(number)) {
    port->SetRoutes(std::move(routes));
    if (!is_used) std::erase_if(ports_, [=](const Port& p) { return p.routes->port() == number; });
  } else if (is_used) {
    Port added;
    added.statistics = statistics_->PortOf(number);
    added.SetRoutes(std::move(routes));
    ports_.push_back(std::move(added));
  }
  has_peers_ = std::any_of(ports_.begin(), ports_.end(),
                           [](const Port& port) { return port.routes->passes_on(); });
  Retry();
}

bool PortRouter::IsShared(uint16_t number) const {
  const Port* port = Find(number);
  return port != nullptr && port->routes->is_shared();
}

bool PortRouter::RouteHello(Connection* connection, std::string_view servername) {
  Port* port = Find(connection->local_port);
  if (port == nullptr) return true;
  const Routes::HostOwner owner = port->routes->FindHost(servername, connection->local_ip);
  // Whoever sent it here had a reason; tables differ only while a change travels.
  if (!owner.is_there || (owner.member != 0 && connection->hops != 0)) return true;
  if (owner.member == 0) {
    const auto found = servers_->find(owner.server_id);
    const bool is_other = found != servers_->end() && found->second.get() != connection->server;
    if (!is_other || transport_->RestartTls(connection, found->second.get())) return true;
    transport_->Close(connection, 0);
    return false;
  }
  if (links_.Prepare(owner.member) != PeerLinks::State::kReady) return true;
  HandedConnection handed;
  handed.hops = 1;
  HandOver(port, connection, owner.member, std::move(handed));
  return false;
}

// Also what a server that was closed is left with, where another one has the port now, and what
// another server has made the handshake of.
bool PortRouter::MustRoute(const Connection* connection) const {
  if (!connection->is_announced) return true;
  if (!IsOwnHandshake(connection, *connection->server)) return true;
  const Port* port = Find(connection->local_port);
  return port != nullptr && (port->routes->is_shared() || connection->server->is_unlistened);
}

// -- Requests.

bool PortRouter::IsPinned(const Connection* connection) {
  const bool is_untouched =
      connection->phase == InputPhase::kHandshake && !connection->is_hello_routed;
  return (connection->tls != nullptr && !is_untouched) || connection->http2 != nullptr;
}

const Connection* PortRouter::RealOf(const Connection* connection) {
  return connection->stream == nullptr ? connection : connection->stream->state->connection;
}

bool PortRouter::HasMore(const http1::RequestHead& head, size_t rest) {
  return head.body != http1::BodyKind::kChunked && !head.upgrade && head.content_length < rest;
}

RequestRouter::Outcome PortRouter::Refuse(Route* route) {
  route->status = RouteStatus::kOffline;
  return Outcome::kUnrouted;
}

// As on Node, a server that was closed goes on with the connections that it was busy with, unless
// another member has its prefix now.
bool PortRouter::IsLeftBehind(const Routes& routes, const Connection* connection, bool has_owner) {
  return connection->is_announced && connection->server->is_unlistened &&
         (!has_owner || !routes.is_shared() || connection->origin != nullptr ||
          IsPinned(connection));
}

// What can be said before it is known who of its owners gets a request: nullopt, and `route` has
// the target of those.
std::optional<RequestRouter::Outcome> PortRouter::LookUp(const Port& port, Connection* connection,
                                                         const http1::RequestHead& head,
                                                         const HostName& host, Route* route) {
  const Routes& routes = *port.routes;
  const Connection* real = RealOf(connection);
  const Route found = routes.Find(host.name, head.target, connection->local_ip);
  const bool is_match = found.status == RouteStatus::kMatch;
  const bool has_owner = is_match && !routes.target(found.id).owners.empty();
  if (IsLeftBehind(routes, real, has_owner)) {
    const Route own =
        real->server->config->FindPrefix(connection->local_port, head, connection->local_ip);
    if (own.status == RouteStatus::kMatch) {
      if (!IsAllowed(connection, *real->server, host, route)) return Outcome::kUnrouted;
      if (connection != real) Transport::SetServer(connection, real->server);
      *route = own;
      return Outcome::kHere;
    }
  }
  *route = found;
  if (!host.is_valid && !(has_owner && routes.target(found.id).has_plain_owner())) {
    route->status = RouteStatus::kBadHost;
  }
  if (route->status != RouteStatus::kMatch) return Outcome::kUnrouted;
  if (IsMisdirected(routes, connection, host.name)) {
    route->status = RouteStatus::kMisdirected;
    return Outcome::kUnrouted;
  }
  if (has_owner) return std::nullopt;
  if (uv_hrtime() / 1'000'000 >= routes.target(found.id).absent_until_ms) return Refuse(route);
  return Wait(connection, route);
}

RequestRouter::Outcome PortRouter::FindServer(Connection* connection,
                                              const http1::RequestHead& head,
                                              std::string_view input, size_t head_bytes,
                                              Route* route) {
  Port* port = Find(connection->local_port);
  const HostName host = http1::HostOf(head);
  if (port == nullptr) {
    if (!IsAllowed(connection, *connection->server, host, route)) return Outcome::kUnrouted;
    transport_->Announce(connection, records::kFlagShared);
    return Outcome::kHere;
  }
  if (const auto decided = LookUp(*port, connection, head, host, route)) return *decided;
  const Routes::Target& target = port->routes->target(route->id);
  const Routes::Owner* owner = nullptr;
  if (connection->is_lent) {
    owner = GivesBackTo(connection, target, HasMore(head, input.size() - head_bytes));
  }
  if (owner == nullptr) owner = Choose(port, connection, route->id);
  if (owner == nullptr) return Wait(connection, route);
  if (target.owners.size() > 1 && owner->member != 0 &&
      links_.Prepare(owner->member) == PeerLinks::State::kGone) {
    owner = OtherOwner(target, *owner);
  }
  if (owner->member == 0) return ToServer(connection, *owner, host, route);
  return ToMember(port, connection, head, owner->member, input, head_bytes, route);
}

RequestRouter::Outcome PortRouter::FindStreamServer(Connection* stream,
                                                    const http1::RequestHead& head, Route* route,
                                                    uint64_t* member) {
  Port* port = Find(stream->local_port);
  const HostName host = http1::HostOf(head);
  if (port == nullptr) {
    return IsAllowed(stream, *stream->server, host, route) ? Outcome::kHere : Outcome::kUnrouted;
  }
  if (const auto decided = LookUp(*port, stream, head, host, route)) return *decided;
  const Routes::Owner* owner = ChooseForStream(port, route->id);
  if (owner == nullptr) return Wait(stream, route);
  if (owner->member == 0) {
    const auto server = servers_->find(owner->server_id);
    if (server == servers_->end()) return Refuse(route);
    if (!IsAllowed(stream, *server->second, host, route)) return Outcome::kUnrouted;
    Transport::SetServer(stream, server->second.get());
    *route = {RouteStatus::kMatch, owner->prefix_id};
    return Outcome::kHere;
  }
  if (stream->hops >= limits::kReturnsMax) return Refuse(route);
  switch (links_.Prepare(owner->member)) {
    case PeerLinks::State::kGone:
      return Refuse(route);
    case PeerLinks::State::kFull:
      return Wait(stream, route);
    case PeerLinks::State::kReady:
      break;
  }
  *member = owner->member;
  return Outcome::kRelayed;
}

// A stream costs nobody a hand-over where its connection is. Otherwise as Choose().
const sharing::PortRoutes::Owner* PortRouter::ChooseForStream(Port* port, uint32_t target_id) {
  const Routes::Target& target = port->routes->target(target_id);
  const auto& owners = target.owners;
  if (owners.size() == 1) return &owners[0];
  const auto own = std::find_if(owners.begin(), owners.end(),
                                [](const Routes::Owner& owner) { return owner.member == 0; });
  const bool has_own = own != owners.end();
  if (has_own && (own->is_plain || !IsBusy())) return &*own;
  if (has_own && !IsBlocked()) return nullptr;
  uint32_t& turn = port->turns[target_id];
  for (size_t i = 0; i < owners.size(); ++i) {
    const Routes::Owner& next = owners[++turn % owners.size()];
    if (next.member == 0) continue;
    return links_.Prepare(next.member) == PeerLinks::State::kGone ? OtherOwner(target, next)
                                                                  : &next;
  }
  return &*own;
}

// Of the owners of a queue: the one that has the connection as long as its JavaScript is not
// blocked, otherwise the next one in turn. nullptr: JavaScript is about to be free. Without a
// connection: for a new one.
const sharing::PortRoutes::Owner* PortRouter::Choose(Port* port, const Connection* connection,
                                                     uint32_t target_id) {
  const auto& owners = port->routes->target(target_id).owners;
  is_lending_ = false;
  if (owners.size() == 1) return &owners[0];
  const auto own = std::find_if(owners.begin(), owners.end(), [&](const Routes::Owner& owner) {
    return owner.member == 0 && (connection == nullptr || !connection->is_announced ||
                                 owner.server_id == connection->server->id);
  });
  const bool has_own = own != owners.end();
  const bool is_announced = connection != nullptr && connection->is_announced;
  const bool is_new = connection == nullptr || (!is_announced && connection->hops == 0);
  if (has_own && ((is_announced && own->is_plain) || (is_new && own->is_fed))) return &*own;
  const bool is_settled =
      has_own && connection != nullptr && (connection->is_announced || connection->hops != 0);
  if (is_settled && !IsBusy()) return &*own;
  if (has_own && connection != nullptr && connection->origin != nullptr) return &*own;
  if (is_settled && connection->hops != 0) {
    // Whoever has passed it on may have been blocked for a moment only, and this one for long.
    const uint64_t blocked_ms = BlockedMs();
    if (blocked_ms < limits::kBlockedMs) return &*own;
    const bool is_worse = blocked_ms >= limits::kBlockedMs << connection->hops;
    if (!is_worse || connection->hops >= limits::kBlockedHopsMax) return nullptr;
  }
  if (is_settled && !IsBlocked()) return nullptr;
  uint32_t& turn = port->turns[target_id];
  is_lending_ = is_settled;
  for (size_t i = 0; i < owners.size(); ++i) {
    const Routes::Owner& next = owners[++turn % owners.size()];
    if (next.member != 0 || (!is_settled && !IsBlocked())) return &next;
    // It would have been the turn of this one.
    is_lending_ = true;
  }
  return has_own ? &*own : &owners[0];
}

// The owner that has passed this connection on, and is free again: with a request that finds it
// idle.
const sharing::PortRoutes::Owner* PortRouter::GivesBackTo(const Connection* connection,
                                                          const Routes::Target& target,
                                                          bool has_more) {
  const auto [home, is_called_back] = lent_.find(connection)->second;
  if (!is_called_back || has_more || IsPinned(connection) || connection->unanswered != 0 ||
      connection->queue != nullptr || connection->first_piece != 0 ||
      Relays::HasPending(connection)) {
    return nullptr;
  }
  for (const Routes::Owner& owner : target.owners) {
    if (owner.member != home) continue;
    is_lending_ = false;
    return links_.Prepare(home) == PeerLinks::State::kReady ? &owner : nullptr;
  }
  return nullptr;
}

// Who is to have a connection back that goes on to `next`. 0: nobody.
uint64_t PortRouter::HomeOf(const Connection* connection, uint64_t next) const {
  if (!is_lending_) return 0;
  const bool is_lent = connection != nullptr && connection->is_lent;
  const uint64_t home = is_lent ? lent_.find(connection)->second.home : self_;
  return home == next ? 0 : home;
}

// Others are told once this one has been free for a while: what is blocked again and again keeps
// its connections away instead of sending them to and fro.
void PortRouter::OnLent() {
  lent_at_ms_ = uv_hrtime() / 1'000'000;
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&free_timer_)) != 0) return;
  uv_timer_start(
      &free_timer_,
      [](uv_timer_t* timer) {
        auto* self = static_cast<PortRouter*>(timer->data);
        const uint64_t since_ms = uv_hrtime() / 1'000'000 - self->lent_at_ms_;
        if (since_ms < limits::kUnblockedMs || self->IsBlocked()) return;
        uv_timer_stop(timer);
        self->links_.TellFree();
      },
      limits::kUnblockedMs, limits::kUnblockedMs);
}

void PortRouter::OnFree(uint64_t member) {
  for (auto& [connection, lent] : lent_) {
    if (lent.home == member) lent.is_called_back = true;
  }
}

// One of a queue that lives, after one that has just died.
const sharing::PortRoutes::Owner* PortRouter::OtherOwner(const Routes::Target& target,
                                                         const Routes::Owner& dead) {
  for (const Routes::Owner& owner : target.owners) {
    if (owner.member == dead.member) continue;
    if (owner.member == 0 || links_.Prepare(owner.member) != PeerLinks::State::kGone) return &owner;
  }
  return &dead;
}

void PortRouter::OnPublishing() {
  if (has_peers_) (void)BlockedMs();
}

// So long it has been working on the same batch. Looked at before each batch, so that time without
// work is not counted.
uint64_t PortRouter::BlockedMs() {
  const uint64_t consumed = queue_->consumed();
  const uint64_t now_ms = uv_hrtime() / 1'000'000;
  if (consumed != consumed_ || !queue_->HasUnread()) {
    consumed_ = consumed;
    working_since_ms_ = now_ms;
    return 0;
  }
  return now_ms - working_since_ms_;
}

RequestRouter::Outcome PortRouter::ToServer(Connection* connection, const Routes::Owner& owner,
                                            const HostName& host, Route* route) {
  const auto found = servers_->find(owner.server_id);
  if (found == servers_->end()) return Refuse(route);
  LaneServer* server = found->second.get();
  if (!IsAllowed(connection, *server, host, route)) return Outcome::kUnrouted;
  const bool is_other = connection->is_announced && connection->server != server;
  if (is_other && (connection->unanswered != 0 || connection->queue != nullptr)) {
    return Outcome::kLater;
  }
  // Answers of another member come first.
  if (Relays::HasPending(connection)) return Outcome::kLater;
  transport_->Assign(connection, server);
  *route = {RouteStatus::kMatch, owner.prefix_id};
  return Outcome::kHere;
}

// The connection moves, unless more has been read behind the request: then it is relayed, so that a
// connection with pipelined requests for several owners does not move with each. One whose bytes
// mean nothing to others stays.
RequestRouter::Outcome PortRouter::ToMember(Port* port, Connection* connection,
                                            const http1::RequestHead& head, uint64_t member,
                                            std::string_view input, size_t head_bytes,
                                            Route* route) {
  if (connection->origin != nullptr) return Return(connection);
  const bool is_pinned = IsPinned(connection);
  const uint8_t hops_max = is_pinned ? limits::kReturnsMax : limits::kHopsMax;
  if (connection->hops >= hops_max || connection->returns >= limits::kReturnsMax) {
    return Refuse(route);
  }
  const bool has_more = HasMore(head, input.size() - head_bytes);
  const bool is_relayed =
      has_more || is_pinned || input.size() + peer::kHandOverBytes > peer::kFrameBytesMax;
  const bool is_ready = is_relayed ? Relays::IsOnlyAt(connection, member)
                                   : connection->unanswered == 0 && connection->queue == nullptr &&
                                         connection->first_piece == 0;
  if (!is_ready) return Outcome::kLater;
  switch (links_.Prepare(member)) {
    case PeerLinks::State::kGone:
      return Refuse(route);
    case PeerLinks::State::kFull:
      return Wait(connection, route);
    case PeerLinks::State::kReady:
      break;
  }
  if (!is_relayed) return Move(port, connection, member, input);
  if (relays_.Send(connection, member, input.substr(0, head_bytes))) return Outcome::kRelayed;
  if (connection->unanswered != 0) return Outcome::kLater;
  route->status = RouteStatus::kNoRelay;
  return Outcome::kUnrouted;
}

// -- Waiting.

RequestRouter::Outcome PortRouter::Wait(Connection* connection, Route* route) {
  if (connection->is_waiting) return Outcome::kWaiting;
  const uint32_t* waiting = WaitingFor(connection, route->id);
  const bool is_full = waiting != nullptr && *waiting >= limits::kWaitingMax;
  if (is_full || waiting_.size() >= limits::kWaitingAllMax) {
    route->status = RouteStatus::kQueueFull;
    return Outcome::kUnrouted;
  }
  AddWaiting(connection, route->id);
  return Outcome::kWaiting;
}

uint32_t* PortRouter::WaitingFor(const Connection* connection, uint32_t target_id) {
  Port* port = Find(connection->local_port);
  return port == nullptr || target_id >= port->waiting.size() ? nullptr : &port->waiting[target_id];
}

void PortRouter::AddWaiting(Connection* connection, uint32_t target_id) {
  if (uint32_t* waiting = WaitingFor(connection, target_id)) ++*waiting;
  waiting_.push_back({connection, target_id});
  connection->is_waiting = true;
  ArmTimer();
}

void PortRouter::WaitReturned(Connection* connection) {
  transport_->Pause(connection, kPauseOrder);
  if (!connection->is_waiting) AddWaiting(connection, kAnyTarget);
}

void PortRouter::Retry() {
  if (waiting_.empty() || is_retrying_) return;
  is_retrying_ = true;
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (Port& port : ports_) std::fill(port.waiting.begin(), port.waiting.end(), 0);
  for (const Waiting& one : waiting) one.connection->is_waiting = false;
  // Each may close itself, not another one.
  for (const auto& [connection, target_id] : waiting) {
    if (connection->is_open()) session_->ResumeInput(connection, kPauseOrder);
  }
  is_retrying_ = false;
}

void PortRouter::ArmTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  uv_timer_start(
      &timer_,
      [](uv_timer_t* timer) {
        auto* self = static_cast<PortRouter*>(timer->data);
        self->Retry();
        if (self->has_waiting()) self->ArmTimer();
      },
      limits::kWaitingRetryMs, 0);
}

// Told before the end is seen: by itself it could be that of the process.
void PortRouter::OnOutputEnding(Connection* connection) {
  RelayOrigin* origin = connection->origin.get();
  // An answer that ends the connection has said so.
  if (origin == nullptr || origin->is_end_told || (origin->closes && !origin->is_stream)) return;
  origin->is_end_told = true;
  links_.SendEnded(*origin, true);
}

void PortRouter::OnDetached(Connection* connection) {
  relays_.OnDetached(connection);
  if (connection->is_counted) CountClosed(connection);
  if (connection->is_lent) lent_.erase(connection);
  connection->is_lent = false;
  const bool is_tunnel = IsTunnel(connection->phase);
  const RelayOrigin* origin = connection->origin.get();
  // To whoever relays it: a stream has gone, and of a connection nothing is unanswered.
  const bool is_known = connection->peer_ended && !is_tunnel && origin != nullptr &&
                        (origin->is_stream || connection->unanswered == 0);
  const bool is_said =
      origin != nullptr && (origin->is_end_told || (origin->closes && !origin->is_stream));
  if (origin != nullptr && !is_said && !is_known) {
    links_.SendEnded(*origin, connection->is_fin_sent);
  }
  if (!connection->is_waiting) return;
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [=](const Waiting& one) { return one.connection == connection; });
  uint32_t* waiting = WaitingFor(connection, found->target_id);
  // Since then the targets may be others, until the next Retry().
  if (waiting != nullptr && *waiting != 0) --*waiting;
  waiting_.erase(found);
  connection->is_waiting = false;
}

// -- Relays.

void PortRouter::OnRelayedAnswer(Connection* connection) {
  links_.SendAnswered(*connection->origin);
}

void PortRouter::OnRelayedUpgrade(Connection* connection, bool is_accepted) {
  links_.SendDecided(*connection->origin, is_accepted);
}

// -- Counting.

// A relayed request's client is another member's.
void PortRouter::OnAnnounced(Connection* connection) {
  if (connection->is_counted || connection->origin != nullptr) return;
  const Port* port = Find(connection->local_port);
  if (port == nullptr) return;
  port->statistics->connections.fetch_add(1, std::memory_order_relaxed);
  connection->is_counted = true;
}

void PortRouter::CountClosed(Connection* connection) {
  const Port* port = Find(connection->local_port);
  // The port may be in use no longer, and may be again.
  PortStatistics::Port* statistics =
      port == nullptr ? statistics_->PortOf(connection->local_port) : port->statistics;
  statistics->connections.fetch_sub(1, std::memory_order_relaxed);
  connection->is_counted = false;
}

void PortRouter::CountRequest(Connection* connection, uint32_t prefix_id) {
  std::vector<PortStatistics::Counter*>& counters = connection->server->requests;
  if (prefix_id >= counters.size()) counters.resize(size_t{prefix_id} + 1);
  PortStatistics::Counter*& counter = counters[prefix_id];
  if (counter == nullptr) counter = statistics_->RequestsOf(connection->server->id, prefix_id);
  counter->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace httpsys::engine
