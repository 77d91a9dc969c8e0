#pragma once
// Moves whole connections to other members, and takes connections from them.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/owner_caches.h"
#include "engine/peers/owner_choice.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_table.h"
#include "engine/peers/relays.h"
#include "engine/peers/waiting_requests.h"
#include "engine/requests/request_router.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Thread: the lane.
class PortMoves {
 public:
  using Routes = sharing::PortRoutes;
  using Port = PortTable::Port;
  using Outcome = RequestRouter::Outcome;
  // The result of PassOn().
  enum class FirstLook : uint8_t { kPassedOn, kStays, kTooEarly };
  // The bytes of a connection that stays, as PassOn() has read them.
  struct FirstBytes {
    std::string_view bytes;
    // The parser of the request's head, if the head is complete.
    std::unique_ptr<http1::RequestParser> parser;
  };

  PortMoves(uint64_t self, const http1::MethodTable* methods, Transport* transport, Input* input,
            PortTable* table, PeerLinks* links, OwnerChoice* choice, WaitingRequests* waiting,
            Relays* relays, const OwnerCaches* caches)
      : self_(self),
        transport_(transport),
        input_(input),
        table_(table),
        links_(links),
        choice_(choice),
        waiting_(waiting),
        relays_(relays),
        caches_(caches),
        methods_(methods) {}
  PortMoves(const PortMoves&) = delete;
  PortMoves& operator=(const PortMoves&) = delete;

  // Looks at a connection that was just accepted. If its first request has come completely and
  // belongs to another member, hands the connection over (kPassedOn). Otherwise sets `first`.
  // kTooEarly: nothing has come yet, and a second look is worthwhile.
  // `server` is the server that accepted; it is replaced if another server of this engine must have
  // the connection.
  FirstLook PassOn(int fd, LaneServer** server, FirstBytes* first);
  // Moves the connection to the member, with the bytes that were read and not handled.
  Outcome Move(Port* port, Connection* connection, uint64_t member, std::string_view input);
  // Releases the connection and hands it to the member.
  void HandOver(Port* port, Connection* connection, uint64_t member, HandedConnection handed);
  // Gives a relayed request back to the relaying member, which looks for another owner.
  Outcome Return(Connection* connection, bool is_blocked = false);
  // Implement the methods of RequestRouter with these names.
  bool MoveAway(Connection* connection);
  void Leave(Connection* connection);
  // Implement the methods of PeerLinks::Owner with these names.
  bool CanTake(uint16_t port) const;
  void OnHandedOver(HandedConnection connection);
  void OnTakenBack(HandedConnection connection);

 private:
  FirstLook PassOnByAddress(Port* port, int fd, const LocalAddress& local, LaneServer** server);
  bool HandOverNew(Port* port, int fd, const LocalAddress& local, std::string_view bytes);
  Connection* Adopt(HandedConnection connection);

  const uint64_t self_;
  Transport* transport_;
  Input* input_;
  PortTable* table_;
  PeerLinks* links_;
  OwnerChoice* choice_;
  WaitingRequests* waiting_;
  Relays* relays_;
  const OwnerCaches* caches_;
  const http1::MethodTable* methods_;
  // The parser and the buffer of PassOn().
  std::unique_ptr<http1::RequestParser> parser_;
  std::vector<char> buffer_;
};

}  // namespace httpsys::engine
