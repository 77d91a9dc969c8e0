#pragma once
// The effects of the state machines of one port: their only way to act on the world.
//
// The state machines (PortParticipant and its parts) are pure: they have no thread, lock, socket or
// clock. SharedPorts implements this interface with channels and names; the model test implements
// it with queues and a clock of its own.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/port_report.h"
#include "peer/messages.h"
#include "sharing/port_routes.h"

namespace httpsys::sharing {

// The user and process at the other end of a connection, as the kernel reports them.
struct Credentials {
  uint32_t uid = 0;
  uint32_t pid = 0;
};

// The answer of one server's output cache to a query (peer::CacheQuery): its entries, or the number
// that was flushed.
struct CacheState {
  bool has_cache = false;
  std::vector<CacheEntry> entries;
  uint64_t flushed = 0;
};

// Counters of a member on a port since it started, for reports of the port's state.
struct PortCounters {
  MemberCounters<uint64_t> member;
  std::map<uint32_t, QueueCounters<uint64_t>> servers;
  // By server id and prefix id.
  std::map<std::pair<uint32_t, uint32_t>, PrefixCounters<uint64_t>> prefixes;
};

// A control connection to another member, or to a program that only asks for the state. 0 = none.
using LinkId = uint64_t;

// Names a version of the routes. PortParticipant::OnApplied() gets it back when all lanes apply it.
struct Applied {
  LinkId link = 0;  // The link from which the version came; 0 = this engine coordinates.
  uint32_t serial = 0;
};

// The result of a visit to the meeting place.
struct Visit {
  enum class Result : uint8_t {
    kLinked,       // `link` is connected to the coordinator.
    kNobody,       // The name is free.
    kUnreachable,  // The name is taken, but no process answers.
    kRefused,      // `error` says why: another user is there (EACCES), or resources are missing.
  };

  Result result = Result::kUnreachable;
  LinkId link = 0;
  int error = 0;
  Credentials who;    // The process at the meeting place. Valid with kLinked and kRefused.
  uint32_t rank = 0;  // The rank of the name. Valid with kLinked.
};

// Calls return at once and never call the state machine back. "Names" are for Tick() and link
// inputs only.
//
// The meeting place of a port has kRanksMax names. The member that listens at the highest rank is
// the coordinator. The rank is 0, unless a coordinator was stopped and another member has succeeded
// it.
class PortEffects {
 public:
  // -- Names.

  // Connects to the meeting place of the port, at the highest rank at which a process listens.
  virtual Visit VisitMeeting() = 0;
  virtual Visit VisitRank(uint32_t rank) = 0;
  // Takes a rank of the meeting place, and gives up the rank that this engine has. Visitors are not
  // accepted until OpenMeeting(), unless the engine has accepted them before. Fails with
  // -EADDRINUSE if another member listens at a higher rank. Returns 0 or a negative errno.
  virtual int TakeMeeting(uint32_t rank) = 0;
  // Takes the lowest free rank above `rank`. Fails with -ENOENT if no process listens at `rank`,
  // and with -EADDRINUSE if no higher rank is free, or another member listens above `rank`. Returns
  // the rank or a negative errno.
  virtual int TakeRankAbove(uint32_t rank) = 0;
  // Sends kDoubt to the data sockets of members: the coordinator does not answer. An empty list
  // stands for all members of this user that the system can name.
  virtual void TellDoubt(const std::vector<uint64_t>& members) = 0;
  // If another user has the name of the port, sets `who` and returns true; returns false otherwise.
  virtual bool IsStrangers(Credentials* who) = 0;

  // -- Called at any time.

  // Begins to accept visitors. Idempotent; does nothing without a meeting place.
  virtual void OpenMeeting() = 0;
  virtual void LeaveMeeting() = 0;
  // Returns true if another member listens at a higher rank of the meeting place than `rank`. False
  // for a coordinator that has no name.
  virtual bool IsSucceeded(uint32_t rank) = 0;
  // Returns true if the process of a member has ended.
  virtual bool IsGone(uint64_t member) = 0;

  // -- Links. Frames of one link arrive in order. Unknown links are ignored.

  virtual void Send(LinkId link, peer::FrameType type, std::string payload) = 0;
  // Like Send(), but closes the link instead if the member has left kPeerUnsentBytesMax unread.
  virtual void Tell(LinkId link, peer::FrameType type, std::string payload) = 0;
  // Sends the listening socket with this address, or all of the port's sockets if `address` is
  // empty. Closes the link as Tell() does.
  virtual void TellSocket(LinkId link, const std::string& address) = 0;
  virtual size_t UnsentBytes(LinkId link) = 0;
  // Returns true if bytes, or the end of the link, wait to be read.
  virtual bool HasUnread(LinkId link) = 0;
  // Returns true if the other side has closed the link. Frames that it has sent before may wait.
  virtual bool HasEnded(LinkId link) = 0;
  // Closes the link. Afterwards no input comes from it.
  virtual void CloseLink(LinkId link) = 0;

  // -- This engine.

  // Gives the lanes new routes. With `applied`, OnApplied() must be called when all apply them.
  virtual void Publish(std::shared_ptr<const PortRoutes> routes,
                       std::optional<Applied> applied) = 0;
  // Lets a server accept from a listening socket of the port. Returns false if it cannot now.
  virtual bool Accept(uint32_t server_id, const std::string& address) = 0;
  // Passes a result to JavaScript, with copies of the port's sockets if it grants a registration.
  virtual void Complete(RegistrationResult result, bool is_registration) = 0;
  virtual PortCounters Count() = 0;
  // Answers a question about the entries of one of this engine's servers in its output cache;
  // nothing without a cache.
  virtual std::optional<CacheReport> AskCache(uint32_t /*server_id*/,
                                              const CacheQuestion& /*question*/) {
    return {};
  }
  // Sets at once how much memory the output cache of this process may use on behalf of the port;
  // UINT64_MAX = no limit. The default is for engines without a cache.
  virtual void GrantCache(uint64_t /*bytes*/) {}
  // TellTicketKeys() returns this engine's keys for TLS session tickets of the port;
  // LearnTicketKeys() adopts keys that the coordinator has sent.
  virtual peer::TicketKeys TellTicketKeys() = 0;
  virtual void LearnTicketKeys(const peer::TicketKeys& keys) = 0;

 protected:
  ~PortEffects() = default;
};

}  // namespace httpsys::sharing
