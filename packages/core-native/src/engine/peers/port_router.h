#pragma once
// Routes the requests of shared ports to servers of the lane and to other members.

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/lane_patience.h"
#include "engine/peers/owner_caches.h"
#include "engine/peers/owner_choice.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_moves.h"
#include "engine/peers/port_statistics.h"
#include "engine/peers/port_table.h"
#include "engine/peers/relay_input.h"
#include "engine/peers/relays.h"
#include "engine/peers/waiting_requests.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"
#include "sharing/port_routes.h"
#include "url/host_name.h"

namespace httpsys::engine {

// Owns and connects the parts of peers/: links, relays, moves, waiting requests and the choice of
// an owner. Thread: the lane.
class PortRouter final : public RequestRouter, public PeerLinks::Owner {
 public:
  PortRouter(uv_loop_t* loop, uint64_t self, const http1::MethodTable* methods,
             const Attachments* attachments, LaneServers* servers, PortStatistics* statistics,
             LanePatience* patience, Transport* transport, Input* input,
             std::function<void(uint16_t port)> on_doubt);
  PortRouter(const PortRouter&) = delete;
  PortRouter& operator=(const PortRouter&) = delete;

  // Sets the objects that answer without JavaScript and that read relayed requests. Must be called
  // before the first request.
  void Start(Exchanges* exchanges, NativeAnswers* answers, RelayInput* requests,
             RelayedStreams* streams);
  void Close();

  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes);
  // True if a connection of some port may go to another member.
  bool has_peers() const { return table_.has_peers(); }
  PortMoves& moves() { return moves_; }
  OwnerChoice& choice() { return choice_; }
  PeerLinks& links() { return links_; }
  WaitingRequests& waiting() { return waiting_; }
  // Must be called in each turn of the loop after input has been read: sends requests and
  // connections to other members. Requests go first, so that a member finds them when it opens
  // their relay.
  void FlushPeers() {
    relays_.Flush();
    links_.Flush();
  }
  OwnerCaches& caches() { return caches_; }
  void OnOutputEnding(Connection* connection);
  void OnAnnounced(Connection* connection);
  void OnDetached(Connection* connection);

  // -- RequestRouter.

  bool IsShared(uint16_t port) const override { return table_.IsShared(port); }
  bool RouteHello(Connection* connection, std::string_view servername) override;
  void Leave(Connection* connection) override { moves_.Leave(connection); }
  bool MoveAway(Connection* connection) override { return moves_.MoveAway(connection); }
  bool MustRoute(const Connection* connection) const override;
  Outcome FindServer(ArrivedRequest* request) override;
  bool CanRelay(const Connection* connection) const override { return Relays::CanSend(connection); }
  void RelayMore(Connection* connection, std::string_view bytes) override {
    relays_.SendMore(connection, bytes);
  }
  bool RelayEnd(Connection* connection) override { return relays_.EndInput(connection); }
  bool RelayStream(Connection* stream, uint64_t member, std::string_view head) override {
    return relays_.Send(stream, member, head);
  }
  size_t UnsentBytes(const Connection* connection) const override {
    return Relays::UnsentBytes(connection);
  }
  void OnRelayedAnswer(Connection* connection) override;
  void OnRelayedUpgrade(Connection* connection, bool is_accepted) override;
  void OnOutputDone(Connection* connection) override { relays_.Resume(connection); }
  void CountRequest(Connection* connection, uint32_t prefix_id) override;

  // -- PeerLinks::Owner.

  bool CanTake(uint16_t port) const override { return moves_.CanTake(port); }
  void OnHandedOver(HandedConnection connection) override {
    moves_.OnHandedOver(std::move(connection));
  }
  void OnTakenBack(HandedConnection connection) override {
    moves_.OnTakenBack(std::move(connection));
  }
  void OnDoubt(uint16_t port) override { on_doubt_(port); }
  void OnFree(uint64_t member, bool wants_back) override {
    if (wants_back) choice_.OnFree(member);
    waiting_.RetrySoon();
  }
  void OnLinkFree() override { waiting_.Retry(); }

 private:
  using Routes = sharing::PortRoutes;
  using Port = PortTable::Port;

  Outcome FindOwner(ArrivedRequest* request);
  const Routes::Owner* ChooseOwner(Port* port, const ArrivedRequest& request,
                                   const Routes::Target& target);
  Outcome ToServer(ArrivedRequest* request, const Routes::Owner& owner,
                   const Routes::Target& target, const HostName& host);
  Outcome Settle(Connection* connection, LaneServer* server);
  Outcome ToMember(Port* port, ArrivedRequest* request, uint64_t member);
  std::optional<Outcome> LookUp(const Port& port, ArrivedRequest* request, const HostName& host);

  PortStatistics* statistics_;
  LanePatience* patience_;
  // Called when a member reports that the coordinator of a port does not answer (kDoubt).
  const std::function<void(uint16_t port)> on_doubt_;
  Transport* transport_;
  NativeAnswers* answers_ = nullptr;
  RelayInput* requests_ = nullptr;
  RelayedStreams* streams_ = nullptr;
  PortTable table_;
  OwnerCaches caches_;
  PeerLinks links_;
  OwnerChoice choice_;
  WaitingRequests waiting_;
  Relays relays_;
  PortMoves moves_;
};

}  // namespace httpsys::engine
