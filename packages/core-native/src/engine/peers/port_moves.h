#pragma once
// Connections that change hands: from here to other members, and from them to here.

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/owner_choice.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_table.h"
#include "engine/peers/relays.h"
#include "engine/peers/waiting_requests.h"
#include "engine/requests/request_router.h"
#include "http1/request_parser.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Thread: the lane.
class PortMoves {
 public:
  using Routes = sharing::PortRoutes;
  using Port = PortTable::Port;
  using Outcome = RequestRouter::Outcome;
  enum class FirstLook : uint8_t { kPassedOn, kStays, kTooEarly };

  PortMoves(uint64_t self, const http1::MethodTable* methods, const RequestQueue* queue,
            Transport* transport, Input* input, PortTable* table, PeerLinks* links,
            OwnerChoice* choice, WaitingRequests* waiting, Relays* relays)
      : self_(self),
        queue_(queue),
        transport_(transport),
        input_(input),
        table_(table),
        links_(links),
        choice_(choice),
        waiting_(waiting),
        relays_(relays),
        parser_(methods) {}
  PortMoves(const PortMoves&) = delete;
  PortMoves& operator=(const PortMoves&) = delete;

  // For a connection that was just accepted. When its first request is there already, whole, and
  // another member's, the connection goes there. Otherwise `bytes` are what was read of it: nothing
  // when it was too early, and worth a second look. `server` accepted it; it may be another one's.
  FirstLook PassOn(int fd, LaneServer** server, std::string_view* bytes);
  // The connection goes to the member with what was read of it.
  Outcome Move(Port* port, Connection* connection, uint64_t member, std::string_view input);
  void HandOver(Port* port, Connection* connection, uint64_t member, HandedConnection handed);
  // A relayed request is told again where it belongs.
  Outcome Return(Connection* connection);
  // As RequestRouter says.
  bool MoveAway(Connection* connection);
  void Leave(Connection* connection);
  // As PeerLinks::Owner says.
  bool CanTake(uint16_t port) const;
  void OnHandedOver(HandedConnection connection);
  void OnTakenBack(HandedConnection connection);

 private:
  FirstLook PassOnByAddress(Port* port, int fd, const LocalAddress& local, LaneServer** server);
  bool HandOverNew(Port* port, int fd, const LocalAddress& local, std::string_view bytes);
  Connection* Adopt(HandedConnection connection);

  const uint64_t self_;
  const RequestQueue* queue_;
  Transport* transport_;
  Input* input_;
  PortTable* table_;
  PeerLinks* links_;
  OwnerChoice* choice_;
  WaitingRequests* waiting_;
  Relays* relays_;
  http1::RequestParser parser_;  // Of PassOn(), as its memory.
  std::vector<char> buffer_;
};

}  // namespace httpsys::engine
