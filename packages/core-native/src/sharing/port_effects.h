#pragma once
// What the state machines of one port ask of the world: their only way out.
//
// The state machines (PortParticipant and its parts) are pure: they have no thread, lock, socket or
// clock. SharedPorts implements this interface with channels and names; the model test implements
// it with queues and a clock of its own.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "peer/messages.h"
#include "sharing/credentials.h"
#include "sharing/port_counters.h"
#include "sharing/port_routes.h"

namespace httpsys::sharing {

// A control connection between two members, or to somebody who only asks. 0 is none.
using LinkId = uint64_t;

// Names a version of the routes. PortParticipant::OnApplied() gets it back when all lanes go by it.
struct Applied {
  LinkId link = 0;  // From whom the version came; 0 = this engine coordinates.
  uint32_t serial = 0;
};

// What came of a visit to the meeting place.
struct Visit {
  enum class Result : uint8_t {
    kLinked,       // `link` leads to the coordinator.
    kNobody,       // The name is free.
    kUnreachable,  // The name is taken, and nobody answers there.
    kRefused,      // `error` says why: another user is there (EACCES), or resources are missing.
  };

  Result result = Result::kUnreachable;
  LinkId link = 0;
  int error = 0;
  Credentials who;  // With kLinked and kRefused.
};

// Calls return at once, and none of them calls the state machine back. Those of the first group are
// made by Tick() and the link inputs of the state machine only, never on behalf of JavaScript.
class PortEffects {
 public:
  // -- Names.

  // Connects to the meeting place of the port.
  virtual Visit VisitMeeting() = 0;
  // Takes the meeting place; visitors wait at its door until OpenMeeting(). 0 or a negative errno.
  virtual int TakeMeeting() = 0;
  // Whether another user has the name of the port, and who.
  virtual bool IsStrangers(Credentials* who) = 0;

  // -- Asked at any time.

  // Lets visitors of the meeting place in. Idempotent; nothing without a meeting place.
  virtual void OpenMeeting() = 0;
  // Whether the process of a member has ended.
  virtual bool IsGone(uint64_t member) = 0;

  // -- Links. Frames of one link arrive in order. Unknown links are ignored.

  virtual void Send(LinkId link, peer::FrameType type, std::string payload) = 0;
  // The same, to a member that is cut off when it leaves kPeerUnsentBytesMax unread.
  virtual void Tell(LinkId link, peer::FrameType type, std::string payload) = 0;
  // A listening socket of the port, or without an address all of them. Cuts off as Tell() does.
  virtual void TellSocket(LinkId link, const std::string& address) = 0;
  virtual size_t UnsentBytes(LinkId link) = 0;
  // Nothing is heard of the link after it.
  virtual void CloseLink(LinkId link) = 0;

  // -- This engine.

  // Gives the lanes a new version of the routes. `applied`: OnApplied() is to follow.
  virtual void Publish(std::shared_ptr<const PortRoutes> routes,
                       std::optional<Applied> applied) = 0;
  // Accepts for a server of this engine from a listening socket of the port. False: not now.
  virtual bool Accept(uint32_t server_id, const std::string& address) = 0;
  // JavaScript hears of it. Without an error a registration gets the sockets of the port along.
  virtual void Complete(RegistrationResult result, bool is_registration) = 0;
  virtual PortCounters Count() = 0;
  // The keys of session tickets of the port, and those that its coordinator tells.
  virtual peer::TicketKeys TellTicketKeys() = 0;
  virtual void LearnTicketKeys(const peer::TicketKeys& keys) = 0;

 protected:
  ~PortEffects() = default;
};

}  // namespace httpsys::sharing
