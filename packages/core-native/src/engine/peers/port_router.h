#pragma once
// The requests of shared ports: which of the lane's servers, or which other member, they are for.

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/connection/transport.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_statistics.h"
#include "engine/peers/relays.h"
#include "engine/requests/request_router.h"
#include "records/request_queue.h"
#include "sharing/port_routes.h"
#include "url/host_name.h"

namespace httpsys::engine {

class Http1Session;
class Http2Session;

using LaneServers = std::unordered_map<uint32_t, std::unique_ptr<LaneServer>>;

// Thread: the lane.
class PortRouter final : public RequestRouter, public PeerLinks::Owner {
 public:
  PortRouter(uv_loop_t* loop, uint64_t self, const http1::MethodTable* methods,
             const RequestQueue* queue, LaneServers* servers, PortStatistics* statistics);
  PortRouter(const PortRouter&) = delete;
  PortRouter& operator=(const PortRouter&) = delete;

  void Start(Transport* transport, Http1Session* session, Http2Session* http2);
  void Close();

  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes);
  enum class FirstLook : uint8_t { kPassedOn, kStays, kTooEarly };
  // For a connection that was just accepted. When its first request is there already, whole, and
  // another member's, the connection goes there. Otherwise `bytes` are what was read of it: nothing
  // when it was too early, and worth a second look. `server` accepted it; it may be another one's.
  FirstLook PassOn(int fd, LaneServer** server, std::string_view* bytes);
  // Whether that may happen.
  bool has_peers() const { return has_peers_; }
  PeerLinks& links() { return links_; }
  // A request that came back looks for its owner a little later.
  void WaitReturned(Connection* connection);
  // Looks again at requests that wait for their owner.
  void Retry();
  bool has_waiting() const { return !waiting_.empty(); }
  // JavaScript is about to be given more.
  void OnPublishing();
  void OnOutputEnding(Connection* connection);
  void OnAnnounced(Connection* connection);
  void OnDetached(Connection* connection);

  // -- RequestRouter.

  bool IsShared(uint16_t port) const override;
  bool RouteHello(Connection* connection, std::string_view servername) override;
  void Leave(Connection* connection) override;
  bool MoveAway(Connection* connection) override;
  bool MustRoute(const Connection* connection) const override;
  Outcome FindServer(Connection* connection, const http1::RequestHead& head, std::string_view input,
                     size_t head_bytes, Route* route) override;
  bool CanRelay(const Connection* connection) const override { return Relays::CanSend(connection); }
  void RelayMore(Connection* connection, std::string_view bytes) override {
    relays_.SendMore(connection, bytes);
  }
  bool RelayEnd(Connection* connection) override { return relays_.EndInput(connection); }
  Outcome FindStreamServer(Connection* stream, const http1::RequestHead& head, Route* route,
                           uint64_t* member) override;
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

  bool CanTake(uint16_t port) const override;
  void OnHandedOver(HandedConnection connection) override;
  void OnTakenBack(HandedConnection connection) override;
  void OnAnswered(const peer::Answered& answer) override { relays_.OnAnswered(answer); }
  void OnDecided(const peer::Decided& decision) override { relays_.OnDecided(decision); }
  void OnReturned(const peer::Returned& returned) override { relays_.OnReturned(returned.id); }
  void OnEnded(const peer::Ended& end) override { relays_.OnEnded(end); }
  void OnFree(uint64_t member) override;
  void OnLinkFree() override { Retry(); }

 private:
  using Routes = sharing::PortRoutes;

  struct Port {
    std::shared_ptr<const Routes> routes;
    PortStatistics::Port* statistics = nullptr;
    // By target: the owner that gets the next new connection, and the requests that wait.
    std::vector<uint32_t> turns;
    std::vector<uint32_t> waiting;

    void SetRoutes(std::shared_ptr<const Routes> next);
  };

  struct Waiting {
    Connection* connection = nullptr;
    uint32_t target_id = kAnyTarget;
  };
  static constexpr uint32_t kAnyTarget = UINT32_MAX;

  const Port* Find(uint16_t number) const;
  Port* Find(uint16_t number);
  LaneServer* ServerOn(const Port* port, const LaneServer* except) const;
  LaneServer* ServerAt(const Port& port, const LocalAddress& local);
  const Routes::Owner* Choose(Port* port, const Connection* connection, uint32_t target_id);
  FirstLook PassOnByAddress(Port* port, int fd, const LocalAddress& local, LaneServer** server);
  static bool Fits(const Port& port, const LocalAddress& local, const LaneServer& server);
  bool HandOverNew(Port* port, int fd, const LocalAddress& local, std::string_view bytes);
  const Routes::Owner* GivesBackTo(const Connection* connection, const Routes::Target& target,
                                   bool has_more);
  uint64_t HomeOf(const Connection* connection, uint64_t next) const;
  void OnLent();
  const Routes::Owner* ChooseForStream(Port* port, uint32_t target_id);
  const Routes::Owner* OtherOwner(const Routes::Target& target, const Routes::Owner& dead);
  Outcome Wait(Connection* connection, Route* route);
  void AddWaiting(Connection* connection, uint32_t target_id);
  // Of those that wait: the number for a target. nullptr: it is not counted.
  uint32_t* WaitingFor(const Connection* connection, uint32_t target_id);
  Outcome ToServer(Connection* connection, const Routes::Owner& owner, const HostName& host,
                   Route* route);
  Outcome ToMember(Port* port, Connection* connection, const http1::RequestHead& head,
                   uint64_t member, std::string_view input, size_t head_bytes, Route* route);
  Outcome Move(Port* port, Connection* connection, uint64_t member, std::string_view input);
  void HandOver(Port* port, Connection* connection, uint64_t member, HandedConnection handed);
  std::optional<Outcome> LookUp(const Port& port, Connection* connection,
                                const http1::RequestHead& head, const HostName& host, Route* route);
  static Outcome Refuse(Route* route);
  // The one with the socket.
  static const Connection* RealOf(const Connection* connection);
  // Its descriptor alone is worth nothing to others; before the first byte of TLS was read it is.
  static bool IsPinned(const Connection* connection);
  // More than the request has been read; `rest` is what came behind its head.
  static bool HasMore(const http1::RequestHead& head, size_t rest);
  Outcome Return(Connection* connection);
  static bool IsMisdirected(const Routes& routes, const Connection* connection,
                            std::string_view name);
  static bool IsOwnHandshake(const Connection* connection, const LaneServer& server);
  // Both speak TLS, or neither does.
  static bool SpeakAlike(const Connection* connection, const LaneServer& server);
  static bool MayServe(const Connection* connection, const LaneServer& server,
                       std::string_view name);
  static bool IsAllowed(const Connection* connection, const LaneServer& server,
                        const HostName& host, Route* route);
  static bool IsLeftBehind(const Routes& routes, const Connection* connection, bool has_owner);
  Connection* Adopt(HandedConnection connection);
  // JavaScript has not read everything that it was given.
  bool IsBusy() const { return queue_->HasUnread(); }
  void CountClosed(Connection* connection);
  uint64_t BlockedMs();
  // Others should take what comes.
  bool IsBlocked() { return BlockedMs() >= limits::kBlockedMs; }
  void ArmTimer();

  // A connection that another member passed on because it was blocked.
  struct Lent {
    uint64_t home = 0;
    bool is_called_back = false;
  };

  const uint64_t self_;
  const RequestQueue* queue_;
  LaneServers* servers_;
  PortStatistics* statistics_;
  Transport* transport_ = nullptr;
  Http1Session* session_ = nullptr;
  PeerLinks links_;
  Relays relays_;
  uv_timer_t timer_;
  std::vector<Port> ports_;
  std::vector<Waiting> waiting_;
  http1::RequestParser parser_;  // Of PassOn(), as its memory.
  std::vector<char> buffer_;
  uint64_t consumed_ = 0;          // What JavaScript had read when it was looked at last.
  uint64_t working_since_ms_ = 0;  // On what it has not read, at the earliest.
  std::unordered_map<const Connection*, Lent> lent_;
  uv_timer_t free_timer_;    // Runs until this member has told that it is free again.
  uint64_t lent_at_ms_ = 0;  // To others, the last time.
  bool is_lending_ = false;  // What Choose() has said last: somebody else, because of that.
  bool is_retrying_ = false;
  bool has_peers_ = false;  // On any port.
};

}  // namespace httpsys::engine
