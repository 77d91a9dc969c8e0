#include "engine/peers/port_router.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/peers/port_admission.h"
#include "http1/request_host.h"

namespace httpsys::engine {
namespace {

using Routes = sharing::PortRoutes;

// Returns the route to an owner. Connections of a server of a whole port stay there, as on Node.
Route RouteTo(const Routes::Owner& owner, const Routes::Target& target, uint32_t target_id) {
  return {RouteStatus::kMatch, owner.prefix_id, target.has_peers && !owner.is_plain, target_id};
}

RequestRouter::Outcome Refuse(Route* route) {
  route->status = RouteStatus::kOffline;
  return RequestRouter::Outcome::kUnrouted;
}

// Returns true if the request stays with a closed server. As on Node, a closed server continues its
// busy connections, unless another member has its prefix now.
bool IsLeftBehind(const Routes& routes, const Connection* connection, bool has_owner) {
  return connection->slot.is_announced() && connection->server()->is_unlistened &&
         (!has_owner || !routes.is_shared() || connection->origin() != nullptr ||
          PortAdmission::IsPinned(connection));
}

// Returns true if bytes behind the request have been read.
bool HasMore(const ArrivedRequest& request) {
  return PortAdmission::HasMore(request.head, request.input.size() - request.head_bytes);
}

// Returns true for a request that the output cache of this process makes.
bool IsOwn(const Connection* connection) {
  const RelayOrigin* const origin = connection->origin();
  return origin != nullptr && origin->is_own();
}

// Sends native answers to earlier requests of the same read now, instead of at the end of the read.
// Returns false if the connection was closed.
bool SendGathered(NativeAnswers* answers, Connection* connection) {
  answers->Flush(connection);
  return connection->is_open();
}

}  // namespace

PortRouter::PortRouter(uv_loop_t* loop, uint64_t self, const http1::MethodTable* methods,
                       const Attachments* attachments, LaneServers* servers,
                       PortStatistics* statistics, LanePatience* patience, Transport* transport,
                       Input* input, std::function<void(uint16_t port)> on_doubt)
    : statistics_(statistics),
      patience_(patience),
      on_doubt_(std::move(on_doubt)),
      transport_(transport),
      table_(servers, statistics),
      caches_(&table_),
      links_(loop, self, patience, this, &relays_),
      choice_(loop, self, attachments, &table_, patience, &links_),
      waiting_(loop, input),
      relays_(loop, &links_, &waiting_, transport, input),
      moves_(self, methods, transport, input, &table_, &links_, &choice_, &waiting_, &relays_,
             &caches_) {}

void PortRouter::Start(Exchanges* exchanges, NativeAnswers* answers, RelayInput* requests,
                       RelayedStreams* streams) {
  answers_ = answers;
  requests_ = requests;
  streams_ = streams;
  relays_.Start(exchanges, requests, streams);
}

void PortRouter::Close() {
  relays_.Close();
  links_.Close();
  waiting_.Close();
  choice_.Close();
}

void PortRouter::SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes) {
  table_.SetRoutes(std::move(routes));
  // The lanes of other members share this lane's CPUs and its work.
  patience_->SetShared(has_peers());
  waiting_.OnRoutes();
}

// -- Requests.

bool PortRouter::RouteHello(Connection* connection, std::string_view servername) {
  PortTable::Port* port = table_.Find(connection->local_port);
  if (port == nullptr) return true;
  const Routes::HostOwner owner = port->routes->FindHost(servername, connection->local_ip);
  // Do not hand on a connection that another member has handed over: the members' routes differ
  // only while a change is on its way.
  if (!owner.is_there || (owner.member != 0 && connection->sharing.hops() != 0)) return true;
  if (owner.member == 0) {
    LaneServer* server = table_.Server(owner.server_id);
    // The routes may be older than the server's settings, by which it has no TLS at this address
    // any more.
    const bool is_other =
        server != nullptr && server != connection->server() &&
        server->config->TlsOf(connection->local_port, connection->local_ip) != nullptr;
    if (!is_other || transport_->RestartTls(connection, server)) return true;
    transport_->Close(connection, 0);
    return false;
  }
  if (links_.Prepare(owner.member) != PeerLinks::State::kReady) return true;
  HandedConnection handed;
  handed.hops = 1;
  moves_.HandOver(port, connection, owner.member, std::move(handed));
  return false;
}

// Returns true if the lane must find the owner of the connection's next request. This includes
// connections of a closed server whose port another server has now, connections whose TLS handshake
// another server has made, and requests behind relayed ones, even if the port has left the routes.
bool PortRouter::MustRoute(const Connection* connection) const {
  if (!connection->slot.is_announced() || Relays::HasPending(connection)) return true;
  if (!PortAdmission::IsOwnHandshake(connection, *connection->server())) return true;
  const PortTable::Port* port = table_.Find(connection->local_port);
  return port != nullptr && (port->routes->is_shared() || connection->server()->is_unlistened);
}

// Returns the outcome if it does not depend on which owner gets the request. Otherwise returns
// nullopt, and the route has the target, whose owners the caller chooses from.
std::optional<RequestRouter::Outcome> PortRouter::LookUp(const PortTable::Port& port,
                                                         ArrivedRequest* request,
                                                         const HostName& host) {
  const Routes& routes = *port.routes;
  Connection* connection = request->connection;
  const http1::RequestHead& head = request->head;
  Route* route = &request->route;
  const Connection* real = connection->real();
  const Route found = routes.Find(host.name, head.target, connection->local_ip);
  const bool is_match = found.status == RouteStatus::kMatch;
  const bool has_owner = is_match && !routes.target(found.id).owners.empty();
  if (IsLeftBehind(routes, real, has_owner)) {
    const Route own =
        real->server()->config->FindPrefix(connection->local_port, head, connection->local_ip);
    if (own.status == RouteStatus::kMatch) {
      if (!PortAdmission::IsAllowed(connection, *real->server(), host, route))
        return Outcome::kUnrouted;
      *route = own;
      return Settle(connection, real->server());
    }
  }
  *route = found;
  if (!host.is_valid && !(has_owner && routes.target(found.id).has_plain_owner())) {
    route->status = RouteStatus::kBadHost;
  }
  if (route->status != RouteStatus::kMatch) return Outcome::kUnrouted;
  if (PortAdmission::IsMisdirected(routes, connection, host.name)) {
    route->status = RouteStatus::kMisdirected;
    return Outcome::kUnrouted;
  }
  if (has_owner) return std::nullopt;
  if (uv_hrtime() / 1'000'000 >= routes.target(found.id).absent_until_ms) return Refuse(route);
  return waiting_.Wait(connection);
}

RequestRouter::Outcome PortRouter::FindServer(ArrivedRequest* request) {
  const Outcome outcome = FindOwner(request);
  const bool is_offline =
      outcome == Outcome::kUnrouted && request->route.status == RouteStatus::kOffline;
  return is_offline ? caches_.AnswerOrphaned(*request).value_or(outcome) : outcome;
}

RequestRouter::Outcome PortRouter::FindOwner(ArrivedRequest* request) {
  Connection* connection = request->connection;
  PortTable::Port* port = table_.Find(connection->local_port);
  const HostName host = http1::HostOf(request->head);
  if (port == nullptr) {
    LaneServer* server = connection->server();
    return PortAdmission::IsAllowed(connection, *server, host, &request->route)
               ? Settle(connection, server)
               : Outcome::kUnrouted;
  }
  if (const auto decided = LookUp(*port, request, host)) return *decided;
  const Routes::Target& target = port->routes->target(request->route.id);
  if (const auto answered = caches_.Answer(*request, target)) return *answered;
  if (IsOwn(connection) && target.own() == nullptr) return moves_.Return(connection);
  const Routes::Owner* owner = ChooseOwner(port, *request, target);
  if (owner == nullptr) return waiting_.Wait(connection);
  if (owner->member == 0) return ToServer(request, *owner, target, host);
  const Outcome outcome = ToMember(port, request, owner->member);
  // If too many requests are relayed (kNoRelay), a request with an owner here goes to that owner.
  const bool is_not_relayed =
      outcome == Outcome::kUnrouted && request->route.status == RouteStatus::kNoRelay;
  const Routes::Owner* own = is_not_relayed ? target.own() : nullptr;
  return own == nullptr ? outcome : ToServer(request, *own, target, host);
}

// Chooses the owner that gets the request. Returns nullptr if no owner can take the request now.
const PortRouter::Routes::Owner* PortRouter::ChooseOwner(Port* port, const ArrivedRequest& request,
                                                         const Routes::Target& target) {
  const Connection* connection = request.connection;
  if (IsOwn(connection)) return target.own();
  const Routes::Owner* owner = nullptr;
  const bool has_waited = waiting_.HasWaited(connection);
  if (connection->stream != nullptr) {
    owner = choice_.ChooseForStream(port, request.route.id, has_waited);
  } else {
    if (connection->sharing.is_lent()) {
      owner = choice_.GivesBackTo(request.connection, target, HasMore(request));
    }
    if (owner == nullptr) {
      owner = choice_.Choose(port, request.connection, request.route.id, has_waited);
    }
  }
  const bool is_gone = owner != nullptr && target.owners.size() > 1 && owner->member != 0 &&
                       links_.Prepare(owner->member) == PeerLinks::State::kGone;
  return is_gone ? choice_.OtherOwner(target, *owner) : owner;
}

RequestRouter::Outcome PortRouter::ToServer(ArrivedRequest* request, const Routes::Owner& owner,
                                            const Routes::Target& target, const HostName& host) {
  Connection* connection = request->connection;
  Route& route = request->route;
  LaneServer* server = table_.Server(owner.server_id);
  if (server == nullptr) return Refuse(&route);
  if (table_.IsOpening(owner)) return waiting_.Wait(connection);
  if (!PortAdmission::IsAllowed(connection, *server, host, &route)) return Outcome::kUnrouted;
  route = RouteTo(owner, target, route.id);
  // A request of the output cache stays with this owner, even if there are others.
  if (IsOwn(connection)) route.has_others = false;
  return Settle(connection, server);
}

// Assigns the connection or stream to the server of this process that was chosen for the request.
// All requests to local servers of a shared port pass here, so no answer leaves before the answers
// of earlier requests, which may belong to another server or member.
RequestRouter::Outcome PortRouter::Settle(Connection* connection, LaneServer* server) {
  if (connection->stream != nullptr) {
    ConnectionList::SetServer(connection, server);
    return Outcome::kHere;
  }
  const bool is_other = connection->slot.is_announced() && connection->server() != server;
  // For bandwidth limits, output counts for the server and prefix whose request it answers.
  const bool is_counted =
      is_other || connection->is_throttled() || server->config->settings().max_bandwidth != 0;
  if (is_counted && !SendGathered(answers_, connection)) return Outcome::kElsewhere;
  if (is_other &&
      (connection->message.unanswered() != 0 || connection->output.queue() != nullptr)) {
    return Outcome::kLater;
  }
  if (Relays::HasPending(connection)) return Outcome::kLater;
  transport_->Assign(connection, server);
  return Outcome::kHere;
}

// Moves the connection to the member. A stream is relayed instead, and so is the request of a
// connection
// - behind whose request more bytes have been read: a connection with pipelined requests for
//   several owners then does not move with each;
// - whose bytes mean nothing to other members.
RequestRouter::Outcome PortRouter::ToMember(Port* port, ArrivedRequest* request, uint64_t member) {
  Connection* connection = request->connection;
  const bool is_stream = connection->stream != nullptr;
  // Unsent answers do not move with the connection, so they are sent first.
  if (!is_stream && !SendGathered(answers_, connection)) return Outcome::kElsewhere;
  if (connection->origin() != nullptr) return moves_.Return(connection);
  const bool is_pinned = is_stream || PortAdmission::IsPinned(connection);
  const uint8_t hops_max = is_pinned ? limits::kReturnsMax : limits::kHopsMax;
  if (connection->sharing.hops() >= hops_max ||
      connection->sharing.returns() >= limits::kReturnsMax) {
    return Refuse(&request->route);
  }
  const bool is_relayed = is_pinned || HasMore(*request) ||
                          request->input.size() + peer::kHandOverBytes > peer::kFrameBytesMax;
  const bool is_ready = is_stream || (is_relayed ? Relays::IsOnlyAt(connection, member)
                                                 : connection->message.unanswered() == 0 &&
                                                       connection->output.is_empty());
  // Unsent output still counts for the bandwidth limit of a prefix of this member.
  const bool is_counted = connection->is_throttled() && !connection->output.is_empty();
  if (!is_ready || is_counted) return Outcome::kLater;
  switch (links_.Prepare(member)) {
    case PeerLinks::State::kGone:
      return Refuse(&request->route);
    case PeerLinks::State::kFull:
      return waiting_.Wait(connection);
    case PeerLinks::State::kReady:
      break;
  }
  if (!is_relayed) return moves_.Move(port, connection, member, request->input);
  if (is_stream) {
    if (streams_->BeginRelay(connection, member, request->head)) return Outcome::kRelayed;
  } else if (relays_.Send(connection, member, request->input.substr(0, request->head_bytes))) {
    requests_->Begin(connection, request->head);
    return Outcome::kRelayed;
  }
  if (connection->message.unanswered() != 0) return Outcome::kLater;
  request->route.status = RouteStatus::kNoRelay;
  return Outcome::kUnrouted;
}

// Sends kEnded before the relaying member can see the end of the socket pair, which alone could
// mean that this process has died.
void PortRouter::OnOutputEnding(Connection* connection) {
  const RelayOrigin* origin = connection->origin();
  // An answer that ends the connection has already informed the relaying member.
  if (origin == nullptr || origin->is_end_told || (origin->closes && !origin->is_stream)) return;
  connection->SetEndTold();
  links_.SendEnded(*origin, true);
}

void PortRouter::OnDetached(Connection* connection) {
  relays_.OnDetached(connection);
  if (connection->sharing.is_counted()) {
    const PortTable::Port* port = table_.Find(connection->local_port);
    // The port may have left the table since the connection was counted.
    PortStatistics::Port* statistics =
        port == nullptr ? statistics_->PortOf(connection->local_port) : port->statistics;
    statistics->connections.fetch_sub(1, std::memory_order_relaxed);
    connection->sharing.SetCounted(false);
  }
  choice_.OnDetached(connection);
  const bool is_tunnel = IsTunnel(connection->phase());
  const RelayOrigin* origin = connection->origin();
  // The relaying member knows the end already if the stream has gone, or if no request of the
  // connection is unanswered.
  const bool is_known = connection->end.peer_ended() && !is_tunnel && origin != nullptr &&
                        (origin->is_stream || connection->message.unanswered() == 0);
  const bool is_said =
      origin != nullptr && (origin->is_end_told || (origin->closes && !origin->is_stream));
  if (origin != nullptr && !is_said && !is_known) {
    links_.SendEnded(*origin, connection->end.is_fin_sent());
  }
  waiting_.OnDetached(connection);
}

// -- Relays, and counting.

void PortRouter::OnRelayedAnswer(Connection* connection) {
  links_.SendAnswered(*connection->origin());
}

void PortRouter::OnRelayedUpgrade(Connection* connection, bool is_accepted) {
  links_.SendDecided(*connection->origin(), is_accepted);
}

// The client of a relayed request belongs to another member, so it is not counted here.
void PortRouter::OnAnnounced(Connection* connection) {
  if (connection->sharing.is_counted() || connection->origin() != nullptr) return;
  const PortTable::Port* port = table_.Find(connection->local_port);
  if (port == nullptr) return;
  port->statistics->connections.fetch_add(1, std::memory_order_relaxed);
  connection->sharing.SetCounted(true);
}

void PortRouter::CountRequest(Connection* connection, uint32_t prefix_id) {
  std::vector<PortStatistics::Counter*>& counters = connection->server()->requests;
  if (prefix_id >= counters.size()) counters.resize(size_t{prefix_id} + 1);
  PortStatistics::Counter*& counter = counters[prefix_id];
  if (counter == nullptr)
    counter = statistics_->RequestsOf(this, connection->server()->id, prefix_id);
  PortStatistics::Change(counter, 1);
}

}  // namespace httpsys::engine
