#pragma once
// One port of an engine: its state machine, and its sockets and names in the system.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sharing/meeting_place.h"
#include "sharing/port_effects.h"
#include "sharing/port_links.h"
#include "sharing/port_participant.h"

namespace httpsys::sharing {

// The functions of SharedPorts that a port calls. SharedPorts holds its lock meanwhile.
class PortHost {
 public:
  virtual PortLinks& links() = 0;
  // Opens a link to the coordinator of a port on a connected descriptor, which the link then owns.
  // The result is kLinked, kRefused or kUnreachable.
  virtual Visit OpenLink(uint16_t port, int fd) = 0;
  // Accepts visitors of the port from a listening descriptor, which the host then owns. Returns a
  // key for Unwatch(), or a negative errno.
  virtual int WatchMeeting(uint16_t port, int fd) = 0;
  virtual void Unwatch(int key) = 0;
  // Gives routes to the lanes. `life` is SharedPort::life(): SharedPorts ignores confirmations that
  // belong to an earlier object of the same port.
  virtual void SetRoutes(std::shared_ptr<const PortRoutes> routes, uint64_t life,
                         std::optional<Applied> applied) = 0;
  virtual void AcceptFor(uint32_t server_id, int fd) = 0;
  // Hands a result to JavaScript.
  virtual void Complete(RegistrationResult result) = 0;
  virtual PortCounters Count(uint16_t port) = 0;
  virtual std::optional<CacheReport> AskCache(uint32_t server_id,
                                              const CacheQuestion& question) = 0;
  virtual void GrantCache(uint16_t port, uint64_t bytes) = 0;
  virtual peer::TicketKeys TellTicketKeys(uint16_t port) = 0;
  virtual void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) = 0;

 protected:
  ~PortHost() = default;
};

// Carries out the effects of its participant. Thread: any, with the lock of SharedPorts held.
class SharedPort final : private PortEffects {
 public:
  // `life` distinguishes this object from earlier and later ones of the same port.
  SharedPort(uint16_t number, uint64_t life, peer::Member self, PortHost* host);
  // Closes the port's sockets and names. The host closes its links.
  ~SharedPort();
  SharedPort& operator=(SharedPort&&) = delete;

  PortParticipant& participant() { return participant_; }
  uint64_t life() const { return life_; }
  // Makes this engine, the first on the port, its coordinator. `meeting` is the port's meeting
  // place, not open to visitors yet; or empty if the engine needs none.
  void Found(NamedSocket meeting, uint64_t now_ms);
  void OpenMeeting() override;
  // Stops accepting visitors.
  void CloseMeeting();
  // Adds a duplicate of a listening socket of a server. Returns 0 or a negative errno.
  int Contribute(uint32_t server_id, int fd);
  // Must be called when the server stops accepting from the socket `fd`.
  void Withdraw(int fd);
  // Takes over a descriptor that came with a frame. Returns its address if it is a listening socket
  // of the port, otherwise an empty string. ForgetStraySockets() must be called when the
  // participant has handled the frame.
  std::string Receive(int fd);
  // Closes the sockets that the participant does not have in its record.
  void ForgetStraySockets();
  // Returns the sockets with this address; empty = all sockets. The port still owns them.
  std::vector<int> SocketsAt(const std::string& address) const;
  // Returns duplicates of the sockets, and the addresses whose connections another program (the
  // primary of a cluster) distributes.
  PortSockets CopySockets() const;

 private:
  Visit VisitMeeting() override;
  Visit VisitRank(uint32_t rank) override;
  int TakeMeeting(uint32_t rank) override;
  int TakeRankAbove(uint32_t rank) override;
  void TellDoubt(const std::vector<uint64_t>& members) override;
  void LeaveMeeting() override;
  bool IsSucceeded(uint32_t rank) override;
  bool HasUnread(LinkId link) override { return host_->links().HasUnread(link); }
  bool HasEnded(LinkId link) override { return host_->links().HasEnded(link); }
  bool IsStrangers(Credentials* who) override;
  bool IsGone(uint64_t member) override;
  void Send(LinkId link, peer::FrameType type, std::string payload) override;
  void Tell(LinkId link, peer::FrameType type, std::string payload) override;
  void TellSocket(LinkId link, const std::string& address) override;
  size_t UnsentBytes(LinkId link) override;
  void CloseLink(LinkId link) override;
  void Publish(std::shared_ptr<const PortRoutes> routes, std::optional<Applied> applied) override;
  bool Accept(uint32_t server_id, const std::string& address) override;
  void Complete(RegistrationResult result, bool is_registration) override;
  PortCounters Count() override;
  std::optional<CacheReport> AskCache(uint32_t server_id, const CacheQuestion& question) override;
  void GrantCache(uint64_t bytes) override;
  peer::TicketKeys TellTicketKeys() override;
  void LearnTicketKeys(const peer::TicketKeys& keys) override;
  Visit Connected(int fd, uint32_t rank);
  // True if this engine has a rank of the meeting place.
  bool has_meeting() const { return meeting_.fd != -1 || meeting_key_ > 0; }

  const uint16_t number_;
  const uint64_t life_;
  PortHost* const host_;
  std::map<std::string, int> sockets_;  // The listening sockets, by address.
  NamedSocket meeting_;
  int meeting_key_ = 0;
  PortParticipant participant_;
};

}  // namespace httpsys::sharing
