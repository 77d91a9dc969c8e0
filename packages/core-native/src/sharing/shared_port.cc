#include "sharing/shared_port.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "sharing/listening_socket.h"
#include "sharing/member_names.h"
#include "sharing/runtime_directory.h"

namespace httpsys::sharing {

SharedPort::SharedPort(uint16_t number, uint64_t life, peer::Member self, PortHost* host)
    : number_(number), life_(life), host_(host), participant_(number, std::move(self), this) {}

SharedPort::~SharedPort() {
  LeaveMeeting();
  for (const auto& [address, fd] : sockets_) close(fd);
}

// -- The meeting place.

void SharedPort::Found(NamedSocket meeting, uint64_t now_ms) {
  meeting_ = std::move(meeting);
  participant_.Found(now_ms);
}

void SharedPort::OpenMeeting() {
  if (meeting_.fd != -1) {
    meeting_key_ = host_->WatchMeeting(number_, std::exchange(meeting_.fd, -1));
  }
}

void SharedPort::CloseMeeting() {
  if (meeting_key_ > 0) host_->Unwatch(meeting_key_);
  meeting_key_ = 0;
}

void SharedPort::LeaveMeeting() {
  CloseMeeting();
  CloseNamed(&meeting_);
}

Visit SharedPort::VisitMeeting() {
  uint32_t rank = 0;
  const int fd = ConnectToCoordinator(number_, &rank);
  return Connected(fd, rank);
}

Visit SharedPort::VisitRank(uint32_t rank) { return Connected(ConnectToRank(number_, rank), rank); }

Visit SharedPort::Connected(int fd, uint32_t rank) {
  Visit visit;
  if (fd >= 0) {
    visit = host_->OpenLink(number_, fd);
  } else {
    const bool is_free = fd == -ECONNREFUSED || fd == -ENOENT;
    visit.result = is_free ? Visit::Result::kNobody : Visit::Result::kUnreachable;
    visit.error = -fd;
  }
  visit.rank = rank;
  return visit;
}

int SharedPort::TakeMeeting(uint32_t rank) {
  NamedSocket taken;
  if (const int status = ListenUnder(PortName(number_, rank), &taken); status != 0) return status;
  const bool is_open = meeting_key_ > 0;
  // A member that looked before this engine listened may have taken a higher rank.
  if (!has_meeting() && IsRankPassed(number_, rank)) {
    CloseNamed(&taken);
    return -EADDRINUSE;
  }
  LeaveMeeting();
  meeting_ = std::move(taken);
  if (is_open) OpenMeeting();
  return 0;
}

int SharedPort::TakeRankAbove(uint32_t rank) {
  for (uint32_t higher = rank + 1; higher < limits::kRanksMax; ++higher) {
    if (IsRankPassed(number_, rank)) break;
    const int status = ListenUnder(PortName(number_, higher), &meeting_);
    if (status == 0 && !IsRankPassed(number_, higher)) return static_cast<int>(higher);
    if (status == 0) {
      // Another member has taken a higher rank: it did not find this engine, which had bound the
      // name but did not listen yet.
      CloseNamed(&meeting_);
      break;
    }
    // EADDRINUSE: the name belongs to another user, or to a stopped process that does not listen.
    if (status != -EADDRINUSE) return status;
  }
  return -EADDRINUSE;
}

bool SharedPort::IsSucceeded(uint32_t rank) {
  const bool is_unnamed = participant_.is_coordinator() && !has_meeting();
  return !is_unnamed && IsRankPassed(number_, rank);
}

void SharedPort::TellDoubt(const std::vector<uint64_t>& members) {
  std::vector<uint64_t> found;
  if (members.empty()) found = FindMembers();
  for (const uint64_t id : members.empty() ? found : members) {
    if (id != participant_.record().self.id) SendDoubt(id, number_);
  }
}

bool SharedPort::IsStrangers(Credentials* who) {
  return sharing::IsStrangers(PortName(number_), who);
}

bool SharedPort::IsGone(uint64_t member) { return sharing::IsGone(member); }

// -- Listening sockets.

int SharedPort::Contribute(uint32_t server_id, int fd) {
  const std::string address = IsListeningOn(fd, number_) ? BoundAddress(fd) : "";
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy == -1) return -errno;
  if (address.empty() || sockets_.contains(address)) {
    close(copy);
    return address.empty() ? -EINVAL : 0;
  }
  fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK);
  sockets_[address] = copy;
  const int refused = participant_.Contribute(address, server_id);
  ForgetStraySockets();
  return -refused;
}

void SharedPort::Withdraw(int fd) {
  participant_.Withdraw(BoundAddress(fd));
  ForgetStraySockets();
}

std::string SharedPort::Receive(int fd) {
  std::string address = IsListeningOn(fd, number_) ? BoundAddress(fd) : "";
  if (address.empty() || sockets_.contains(address)) {
    close(fd);
    return address;
  }
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  sockets_[address] = fd;
  return address;
}

void SharedPort::ForgetStraySockets() {
  const auto& known = participant_.record().sockets;
  std::erase_if(sockets_, [&](const auto& item) {
    for (const PortRecord::Socket& socket : known) {
      if (socket.address == item.first) return false;
    }
    close(item.second);
    return true;
  });
}

std::vector<int> SharedPort::SocketsAt(const std::string& address) const {
  std::vector<int> found;
  for (const PortRecord::Socket& socket : participant_.record().sockets) {
    const bool is_meant = address.empty() || socket.address == address;
    const auto there = sockets_.find(socket.address);
    if (is_meant && there != sockets_.end()) found.push_back(there->second);
  }
  return found;
}

PortSockets SharedPort::CopySockets() const {
  PortSockets copied;
  for (const int fd : SocketsAt({})) {
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy != -1) copied.sockets.emplace_back(copy);
  }
  copied.fed = participant_.record().state.FedAddresses();
  return copied;
}

// -- Effects.

void SharedPort::Send(LinkId link, peer::FrameType type, std::string payload) {
  host_->links().Send(link, type, std::move(payload), false);
}

void SharedPort::Tell(LinkId link, peer::FrameType type, std::string payload) {
  host_->links().Send(link, type, std::move(payload), true);
}

void SharedPort::TellSocket(LinkId link, const std::string& address) {
  host_->links().SendSocket(link, address);
}

size_t SharedPort::UnsentBytes(LinkId link) { return host_->links().UnsentBytes(link); }

void SharedPort::CloseLink(LinkId link) { host_->links().Close(link); }

void SharedPort::Publish(std::shared_ptr<const PortRoutes> routes, std::optional<Applied> applied) {
  host_->SetRoutes(std::move(routes), life_, applied);
}

bool SharedPort::Accept(uint32_t server_id, const std::string& address) {
  const auto found = sockets_.find(address);
  const int copy = found == sockets_.end() ? -1 : fcntl(found->second, F_DUPFD_CLOEXEC, 0);
  if (copy == -1) return false;
  host_->AcceptFor(server_id, copy);
  return true;
}

void SharedPort::Complete(RegistrationResult result, bool is_registration) {
  if (is_registration && result.error == 0) {
    PortSockets copied = CopySockets();
    result.sockets = std::move(copied.sockets);
    result.fed = std::move(copied.fed);
  }
  host_->Complete(std::move(result));
}

PortCounters SharedPort::Count() { return host_->Count(number_); }

std::optional<CacheReport> SharedPort::AskCache(uint32_t server_id, const CacheQuestion& question) {
  return host_->AskCache(server_id, question);
}

void SharedPort::GrantCache(uint64_t bytes) { host_->GrantCache(number_, bytes); }

peer::TicketKeys SharedPort::TellTicketKeys() { return host_->TellTicketKeys(number_); }

void SharedPort::LearnTicketKeys(const peer::TicketKeys& keys) {
  host_->LearnTicketKeys(number_, keys);
}

}  // namespace httpsys::sharing
