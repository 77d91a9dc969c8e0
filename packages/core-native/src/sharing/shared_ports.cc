#include "sharing/shared_ports.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "sharing/named_files.h"

namespace httpsys::sharing {

SharedPorts::SharedPorts(Delegate* delegate, BoundCache bound_cache)
    : delegate_(delegate), bound_cache_(std::move(bound_cache)), id_(RandomId()), thread_(this) {}

SharedPorts::~SharedPorts() { Close(); }

uint64_t SharedPorts::NowMs() { return uv_hrtime() / 1'000'000; }

void SharedPorts::Introduce(uint32_t thread, std::string program) {
  const std::lock_guard lock(mutex_);
  thread_number_ = thread;
  program_ = std::move(program);
}

// -- Calls of JavaScript.

int SharedPorts::Meet(uint16_t number, Stranger* stranger) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return -EBADF;
  if (Find(number) != nullptr) return static_cast<int>(Meeting::kMember);
  NamedSocket meeting;
  const std::string name = PortName(number);
  const int status = ListenUnder(name, &meeting);
  Credentials other;
  if ((status == -EADDRINUSE || status == -EACCES) && IsStrangers(name, &other)) {
    if (stranger != nullptr) *stranger = {other.uid, other.pid};
    return static_cast<int>(Meeting::kStrangers);
  }
  if (status == -EADDRINUSE) return static_cast<int>(Meeting::kTaken);
  if (status != 0) return status;
  // Rank 0 is free, but a successor of a stopped coordinator listens at a higher rank.
  if (IsRankPassed(number, 0)) {
    CloseNamed(&meeting);
    return static_cast<int>(Meeting::kTaken);
  }
  Add(number)->Found(std::move(meeting), NowMs());
  return static_cast<int>(Meeting::kOurs);
}

int SharedPorts::TakeAlone(uint16_t number) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return -EBADF;
  if (Find(number) != nullptr) return -EALREADY;
  // Without a meeting place, no other process can find this coordinator.
  Add(number)->Found({}, NowMs());
  return 0;
}

int SharedPorts::Contribute(uint16_t number, uint32_t server_id, int fd, bool is_last) {
  const std::lock_guard lock(mutex_);
  SharedPort* port = Find(number);
  if (port == nullptr) return -EBADF;
  const int status = port->Contribute(server_id, fd);
  // The founder of a port accepts visitors only when it has all its sockets: otherwise a visitor
  // would open one of its own, and the two would conflict.
  if (is_last) port->OpenMeeting();
  AfterInput(number);
  return status;
}

void SharedPorts::Withdraw(uint16_t number, int fd) {
  const std::lock_guard lock(mutex_);
  if (SharedPort* port = Find(number)) port->Withdraw(fd);
}

PortSockets SharedPorts::Sockets(uint16_t number) {
  const std::lock_guard lock(mutex_);
  const SharedPort* port = Find(number);
  return port == nullptr ? PortSockets() : port->CopySockets();
}

void SharedPorts::WishCache(uint64_t bytes, uint64_t port_limit) {
  const std::lock_guard lock(mutex_);
  cache_.bytes = bytes;
  cache_.limit = port_limit;
}

bool SharedPorts::Register(uint16_t number, peer::Register wanted, RegistrationResult* result) {
  const std::lock_guard lock(mutex_);
  const uint32_t token = wanted.token;
  *result = {};
  result->token = token;
  if (is_closed_) {
    result->error = EBADF;
    return true;
  }
  SharedPort* port = Find(number);
  if (port == nullptr) port = Add(number);
  if ((wanted.flags & peer::kEntryCached) != 0 && cache_.bytes != 0) {
    port->participant().WishCache(cache_.bytes, cache_.limit);
  }
  const bool is_done = port->participant().Register(std::move(wanted), result, NowMs());
  result->token = token;
  if (is_done && result->error == 0) {
    PortSockets copied = port->CopySockets();
    result->sockets = std::move(copied.sockets);
    result->fed = std::move(copied.fed);
  }
  AfterInput(number);
  return is_done;
}

bool SharedPorts::TakeResult(RegistrationResult* result) {
  const std::lock_guard lock(mutex_);
  if (results_.empty()) return false;
  *result = std::move(results_.front());
  results_.erase(results_.begin());
  return true;
}

bool SharedPorts::Unregister(uint16_t number, const peer::Unregister& gone, bool stays) {
  const std::lock_guard lock(mutex_);
  SharedPort* port = Find(number);
  if (port == nullptr) return false;
  const bool has_others = port->participant().Unregister(gone, stays, NowMs());
  AfterInput(number);
  return has_others;
}

bool SharedPorts::ChangeTerms(uint32_t server_id, const PortParticipant::TermsOf& terms_of,
                              RegistrationResult* conflict) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return true;
  *conflict = {};
  // All ports are checked first: a conflict on one port leaves the other ports unchanged.
  for (const auto& [number, port] : ports_) {
    port->participant().CheckTerms(server_id, terms_of, conflict);
  }
  if (conflict->error != 0) return false;
  for (const auto& [number, port] : ports_) {
    port->participant().ApplyTerms(server_id, terms_of, NowMs());
  }
  if (links_.has_pending()) thread_.Post([] {});
  return true;
}

void SharedPorts::Reserve(uint16_t number, const std::vector<std::string>& prefixes) {
  const std::lock_guard lock(mutex_);
  if (SharedPort* port = Find(number)) port->participant().Reserve(prefixes);
}

void SharedPorts::Leave(uint16_t number) {
  const std::lock_guard lock(mutex_);
  SharedPort* port = Find(number);
  if (port == nullptr) return;
  port->participant().Leave();
  AfterInput(number);
}

// 1. Stop accepting visitors. 2. End the thread, which closes its links. 3. Close the rest.
void SharedPorts::Close() {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    for (const auto& [number, port] : ports_) port->CloseMeeting();
    if (link_key_ > 0) delegate_->Unwatch(link_key_);
  }
  thread_.Stop();
  ports_.clear();
  for (const RegistrationResult& result : results_) {
    for (const int fd : result.sockets) close(fd);
  }
  results_.clear();
  CloseNamed(&link_socket_);
}

// -- The thread.

void SharedPorts::AfterCommands() {
  const std::lock_guard lock(mutex_);
  Flush();
  ArmTimers();
}

// Unregisters all prefixes of this engine. Otherwise they would be offline for a while.
void SharedPorts::BeforeEnd() {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, port] : ports_) port->participant().SayGoodbye(NowMs());
  Flush();
  links_.CloseAll();
}

void SharedPorts::ArmTimers() {
  const auto is_any = [this](const auto& is_so) {
    return std::any_of(ports_.begin(), ports_.end(),
                       [&](const auto& item) { return is_so(item.second->participant()); });
  };
  if (is_any([](const PortParticipant& each) { return each.NeedsTicks(); })) thread_.TickSoon();
  if (is_any([](const PortParticipant& each) { return each.TellsTicketKeys(); })) {
    thread_.TellKeysLater();
  }
}

void SharedPorts::Tick() {
  const std::lock_guard lock(mutex_);
  std::vector<uint16_t> numbers;
  numbers.reserve(ports_.size());
  for (const auto& [number, port] : ports_) numbers.push_back(number);
  for (const uint16_t number : numbers) {
    SharedPort* port = Find(number);
    if (port != nullptr && !is_closed_) port->participant().Tick(NowMs());
    AfterInput(number);
  }
  ArmTimers();
}

// Sends new ticket keys to the members; keys are replaced as time passes.
void SharedPorts::TellTicketKeys() {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, port] : ports_) {
    if (port->participant().is_coordinator()) port->participant().TellTicketKeys();
  }
  Flush();
  ArmTimers();
}

void SharedPorts::OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) {
  // No frame type of a control connection has more than one descriptor.
  const int fd = fds.empty() ? -1 : fds[0];
  for (size_t i = 1; i < fds.size(); ++i) close(fds[i]);
  const std::lock_guard lock(mutex_);
  const PortLinks::Place place = links_.Find(channel);
  SharedPort* port = Find(place.port);
  bool is_sound = port != nullptr;
  if (port != nullptr) {
    const bool is_socket = fd != -1 && frame.type == peer::FrameType::kSocket;
    const std::string address = is_socket ? port->Receive(fd) : "";
    if (fd != -1 && !is_socket) close(fd);
    is_sound = port->participant().OnFrame(place.link, frame, address, NowMs());
    port->ForgetStraySockets();
  } else if (fd != -1) {
    close(fd);
  }
  AfterInput(place.port);
  if (!is_sound && !channel->is_closed()) links_.Remove(channel);
  ArmTimers();
}

void SharedPorts::OnBroken(Channel* channel) {
  const std::lock_guard lock(mutex_);
  const PortLinks::Place place = links_.Find(channel);
  if (SharedPort* port = Find(place.port)) port->participant().OnBroken(place.link, NowMs());
  AfterInput(place.port);
  if (!channel->is_closed()) links_.Remove(channel);
  ArmTimers();
}

void SharedPorts::OnApplied(uint16_t number, uint64_t life, const Applied& applied) {
  thread_.Post([this, number, life, applied] {
    const std::lock_guard lock(mutex_);
    SharedPort* port = Find(number);
    // Ignore confirmations for an earlier SharedPort of this number.
    if (port == nullptr || port->life() != life) return;
    port->participant().OnApplied(applied, NowMs());
    AfterInput(number);
  });
}

void SharedPorts::OnDoubt(uint16_t number) {
  {
    const std::lock_guard lock(doubts_mutex_);
    if (!doubts_.insert(number).second) return;
  }
  thread_.Post([this, number] {
    {
      const std::lock_guard lock(doubts_mutex_);
      doubts_.erase(number);
    }
    const std::lock_guard lock(mutex_);
    SharedPort* port = Find(number);
    if (port == nullptr || is_closed_) return;
    port->participant().OnDoubt(NowMs());
    AfterInput(number);
  });
}

// Thread: the acceptor's.
void SharedPorts::OnVisitor(uint16_t number, int fd) {
  const bool is_posted = thread_.Post([this, number, fd] {
    const std::lock_guard lock(mutex_);
    SharedPort* port = Find(number);
    Credentials who;
    const bool is_welcome = !is_closed_ && port != nullptr && ReadCredentials(fd, &who) &&
                            who.uid == geteuid() && EnsureLinkSocket() == 0;
    if (!is_welcome) {
      close(fd);
      return;
    }
    const LinkId link = links_.Open(thread_.loop(), fd, this, number);
    if (link == 0) return;
    if (!port->participant().OnVisitor(link, who, NowMs())) links_.Close(link);
    AfterInput(number);
  });
  if (!is_posted) close(fd);
}

// -- Ports.

SharedPort* SharedPorts::Find(uint16_t number) {
  const auto found = ports_.find(number);
  return found == ports_.end() ? nullptr : found->second.get();
}

SharedPort* SharedPorts::Add(uint16_t number) {
  peer::Member self{id_, static_cast<uint32_t>(getpid()), thread_number_, peer::kProtocol,
                    program_};
  PortHost* const host = this;
  return (ports_[number] =
              std::make_unique<SharedPort>(number, ++last_life_, std::move(self), host))
      .get();
}

void SharedPorts::AfterInput(uint16_t number) {
  SharedPort* port = Find(number);
  bool wants_thread = port != nullptr && !port->participant().IsAlone();
  if (port != nullptr && port->participant().is_over()) {
    links_.CloseOf(number);
    ports_.erase(number);
    wants_thread = false;
  }
  if (thread_.IsCurrent()) {
    Flush();
  } else if (wants_thread || links_.has_pending()) {
    // On the thread: join the port if necessary (Tick()), send waiting frames, arm the timers.
    thread_.Post([this, number] {
      const std::lock_guard lock(mutex_);
      SharedPort* port = Find(number);
      if (port != nullptr && !is_closed_) port->participant().Tick(NowMs());
      AfterInput(number);
    });
  }
}

void SharedPorts::Flush() {
  links_.Flush([this](uint16_t number, const std::string& address) {
    const SharedPort* port = Find(number);
    return port == nullptr ? std::vector<int>() : port->SocketsAt(address);
  });
}

// Listens under this member's name. Returns 0 or a positive errno.
int SharedPorts::EnsureLinkSocket() {
  if (link_key_ > 0) return 0;
  const std::string name = MemberName(id_);
  if (const int status = ListenUnder(name, &link_socket_); status != 0) return -status;
  // Watch() takes the descriptor over.
  link_key_ = delegate_->Watch(std::exchange(link_socket_.fd, -1),
                               [this](int fd) { delegate_->OnLink(fd); });
  if (link_key_ <= 0) {
    CloseNamed(&link_socket_);
    return EMFILE;
  }
  if (link_socket_.lock_fd != -1) SweepFolder(name);
  return 0;
}

// -- PortHost.

Visit SharedPorts::OpenLink(uint16_t port, int fd) {
  Visit visit;
  if (!ReadCredentials(fd, &visit.who) || visit.who.uid != geteuid()) {
    visit.error = EACCES;
  } else {
    visit.error = EnsureLinkSocket();
  }
  if (visit.error != 0) {
    close(fd);
    visit.result = Visit::Result::kRefused;
    return visit;
  }
  visit.link = links_.Open(thread_.loop(), fd, this, port);
  if (visit.link != 0) visit.result = Visit::Result::kLinked;
  return visit;
}

int SharedPorts::WatchMeeting(uint16_t port, int fd) {
  return delegate_->Watch(fd, [this, port](int visitor) { OnVisitor(port, visitor); });
}

void SharedPorts::Unwatch(int key) { delegate_->Unwatch(key); }

void SharedPorts::SetRoutes(std::shared_ptr<const PortRoutes> routes, uint64_t life,
                            std::optional<Applied> applied) {
  std::function<void()> then;
  if (applied) {
    then = [this, number = routes->port(), life, applied = *applied] {
      OnApplied(number, life, applied);
    };
  }
  delegate_->SetRoutes(std::move(routes), std::move(then));
}

void SharedPorts::AcceptFor(uint32_t server_id, int fd) { delegate_->AcceptFor(server_id, fd); }

void SharedPorts::Complete(RegistrationResult result) {
  results_.push_back(std::move(result));
  delegate_->WakeConsumer();
}

PortCounters SharedPorts::Count(uint16_t port) { return delegate_->Count(port); }

std::optional<CacheReport> SharedPorts::AskCache(uint32_t server_id,
                                                 const CacheQuestion& question) {
  return delegate_->AskCache(server_id, question);
}

void SharedPorts::GrantCache(uint16_t port, uint64_t bytes) {
  if (bound_cache_) bound_cache_(port, bytes);
}

peer::TicketKeys SharedPorts::TellTicketKeys(uint16_t port) {
  return delegate_->TellTicketKeys(port);
}

void SharedPorts::LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) {
  delegate_->LearnTicketKeys(port, keys);
}

}  // namespace httpsys::sharing
