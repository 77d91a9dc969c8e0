#pragma once
// One port of an engine: its state machine, and what that has in the system: sockets and names.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sharing/meeting_place.h"
#include "sharing/port_effects.h"
#include "sharing/port_participant.h"

namespace httpsys::sharing {

// What SharedPorts does for its ports.
class PortHost {
 public:
  // Opens a link to the coordinator of a port. Takes the connected descriptor over. A Visit with
  // kLinked, kRefused or kUnreachable.
  virtual Visit OpenLink(uint16_t port, int fd) = 0;
  virtual void Send(LinkId link, peer::FrameType type, std::string payload, bool is_cut_off) = 0;
  virtual void SendSocket(LinkId link, const std::string& address) = 0;
  virtual size_t UnsentBytes(LinkId link) = 0;
  virtual void CloseLink(LinkId link) = 0;
  // Accepts visitors of the port on a listening descriptor, which it takes over. The key by which
  // that ends, or a negative errno.
  virtual int WatchMeeting(uint16_t port, int fd) = 0;
  virtual void Unwatch(int key) = 0;
  // `life` is that of the port, by which it knows its own when they are applied.
  virtual void SetRoutes(std::shared_ptr<const PortRoutes> routes, uint64_t life,
                         std::optional<Applied> applied) = 0;
  virtual void AcceptFor(uint32_t server_id, int fd) = 0;
  // JavaScript hears of it.
  virtual void Complete(RegistrationResult result) = 0;
  virtual PortCounters Count(uint16_t port) = 0;
  virtual peer::TicketKeys TellTicketKeys(uint16_t port) = 0;
  virtual void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) = 0;

 protected:
  ~PortHost() = default;
};

// Thread: any, with the lock of SharedPorts.
class SharedPort final : private PortEffects {
 public:
  // `life` tells this object from others of the same port, before and after it.
  SharedPort(uint16_t number, uint64_t life, peer::Member self, PortHost* host);
  // Closes its sockets and names; links are the host's.
  ~SharedPort();
  SharedPort(const SharedPort&) = delete;
  SharedPort& operator=(const SharedPort&) = delete;

  PortParticipant& participant() { return participant_; }
  uint64_t life() const { return life_; }
  // This engine has taken the meeting place, whose door is closed yet; or needs none.
  void Found(NamedSocket meeting, uint64_t now_ms);
  void OpenMeeting() override;
  // No visitors come any more.
  void CloseMeeting();
  // A listening socket of the port that a server accepts on. Duplicated. 0 or a negative errno.
  int Contribute(uint32_t server_id, int fd);
  void Withdraw(int fd);
  // A descriptor that came with a frame, which it takes over: the address of a listening socket of
  // the port, or empty. ForgetStraySockets() follows when the participant has seen the frame.
  std::string Receive(int fd);
  void ForgetStraySockets();
  // Those with an address, empty = all; they stay the port's.
  std::vector<int> SocketsAt(const std::string& address) const;
  // Copies, and the addresses for which others accept.
  PortSockets CopySockets() const;

 private:
  Visit VisitMeeting() override;
  int TakeMeeting() override;
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
  peer::TicketKeys TellTicketKeys() override;
  void LearnTicketKeys(const peer::TicketKeys& keys) override;

  const uint16_t number_;
  const uint64_t life_;
  PortHost* const host_;
  std::map<std::string, int> sockets_;  // Listening ones, by address.
  NamedSocket meeting_;
  int meeting_key_ = 0;
  PortParticipant participant_;
};

}  // namespace httpsys::sharing
