#include "sharing/sharing.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "base/signals_blocked.h"
#include "sharing/listening_socket.h"
#include "sharing/named_files.h"

namespace httpsys::sharing {
namespace {

// How often deadlines are looked at while there are any.
constexpr uint64_t kTickMs = 10;

// The one whose thread this is.
thread_local const Sharing* current = nullptr;

}  // namespace

Sharing::Sharing(Delegate* delegate) : delegate_(delegate), id_(RandomId()) {}

Sharing::~Sharing() { Close(); }

uint64_t Sharing::NowMs() { return uv_hrtime() / 1'000'000; }

void Sharing::Introduce(uint32_t thread, std::string program) {
  const std::lock_guard lock(mutex_);
  thread_number_ = thread;
  program_ = std::move(program);
}

// -- What JavaScript wants.

int Sharing::Meet(uint16_t number, Stranger* stranger) {
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
  Port* port = (ports_[number] = std::make_unique<Port>(number)).get();
  BecomeCoordinator(port, meeting);
  return static_cast<int>(Meeting::kOurs);
}

int Sharing::TakeAlone(uint16_t number) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return -EBADF;
  if (Find(number) != nullptr) return -EALREADY;
  // A coordinator that nobody finds.
  BecomeCoordinator((ports_[number] = std::make_unique<Port>(number)).get(), {});
  return 0;
}

int Sharing::Contribute(uint16_t number, uint32_t server_id, int fd) {
  const std::lock_guard lock(mutex_);
  Port* port = Find(number);
  if (port == nullptr) return -EBADF;
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy == -1) {
    const int error = errno;
    OpenMeeting(port);
    return -error;
  }
  const int refused = AddSocket(port, copy);
  OpenMeeting(port);
  if (refused != 0) return refused == EEXIST ? 0 : -refused;
  port->sockets.back().accepted_by = server_id;
  if (port->role == Role::kCoordinator && port->sessions.empty()) return 0;
  const int sent = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (sent == -1) return -errno;
  const bool is_posted = Post([this, number, sent] {
    const std::lock_guard lock(mutex_);
    Port* port = Find(number);
    if (port != nullptr && port->role == Role::kCoordinator) {
      Broadcast(port, peer::FrameType::kSocket, peer::Encode(peer::Sync{}), sent);
    } else if (port != nullptr && port->upstream != nullptr) {
      port->upstream->Send(peer::FrameType::kSocket, peer::Encode(peer::Sync{}), sent);
    }
    close(sent);
  });
  if (!is_posted) close(sent);
  return 0;
}

void Sharing::Withdraw(uint16_t number, int fd) {
  const std::lock_guard lock(mutex_);
  Port* port = Find(number);
  if (port == nullptr) return;
  const std::string address = BoundAddress(fd);
  const auto found =
      std::find_if(port->sockets.begin(), port->sockets.end(),
                   [&](const SharedSocket& socket) { return socket.address == address; });
  if (found == port->sockets.end()) return;
  if (port->role == Role::kCoordinator && port->sessions.empty() && port->own.size() <= 1) {
    close(found->fd);
    port->sockets.erase(found);
    return;
  }
  found->accepted_by = 0;
  EnsureAccepted(port);
}

PortSockets Sharing::Sockets(uint16_t number) {
  const std::lock_guard lock(mutex_);
  const Port* port = Find(number);
  return port == nullptr ? PortSockets() : CopySockets(*port);
}

bool Sharing::Register(uint16_t number, peer::Register wanted, RegistrationResult* result) {
  const std::lock_guard lock(mutex_);
  *result = {};
  result->token = wanted.token;
  if (is_closed_) {
    result->error = EBADF;
    return true;
  }
  Port* port = Find(number);
  if (port == nullptr) port = (ports_[number] = std::make_unique<Port>(number)).get();
  if (port->role != Role::kCoordinator) {
    port->queued.push_back(std::move(wanted));
    OnThread(number, [this](Port* port) {
      if (port->role != Role::kJoining) {
        AskForAll(port);
      } else if (port->upstream == nullptr) {
        Connect(port);
      }
    });
    return false;
  }
  const uint32_t token = wanted.token;
  *result = Decide(port, id_, wanted);
  result->token = token;
  if (result->error != 0) return true;
  AddOwn(port, std::move(wanted));
  if (port->sessions.empty()) {
    PublishRoutes(port);
    AddSockets(*port, result);
    return true;
  }
  OnThread(number, [this, token](Port* port) { Confirm(port, SyncAll(port), nullptr, token); });
  return false;
}

bool Sharing::TakeResult(RegistrationResult* result) {
  const std::lock_guard lock(mutex_);
  if (results_.empty()) return false;
  *result = std::move(results_.front());
  results_.erase(results_.begin());
  return true;
}

void Sharing::Reserve(uint16_t number, const std::vector<std::string>& prefixes) {
  const std::lock_guard lock(mutex_);
  Port* port = Find(number);
  if (port == nullptr || (prefixes.empty() && port->reserved.empty())) return;
  port->reserved.clear();
  for (const std::string& text : prefixes) {
    UrlPrefix parsed;
    const bool is_sound = ParseUrlPrefix(text, &parsed) == PrefixError::kNone &&
                          parsed.port == number && port->reserved.size() < limits::kEntriesMax;
    if (is_sound) port->reserved.push_back(std::move(parsed));
  }
  PublishRoutes(port);
}

void Sharing::Leave(uint16_t number) {
  const std::lock_guard lock(mutex_);
  Port* port = Find(number);
  if (port == nullptr || !IsUnused(*port)) return;
  if (port->role == Role::kCoordinator && port->sessions.empty()) {
    Drop(port);
    return;
  }
  OnThread(number, [this](Port* port) {
    if (IsUnused(*port)) Drop(port);
  });
}

// 1. Nobody comes in, 2. the thread closes what it has, 3. the rest.
void Sharing::Close() {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    for (const auto& [number, port] : ports_) {
      if (port->meeting_key > 0) delegate_->Unwatch(port->meeting_key);
      port->meeting_key = 0;
    }
    if (link_key_ > 0) delegate_->Unwatch(link_key_);
  }
  bool is_running;
  {
    const std::lock_guard lock(commands_mutex_);
    is_running = is_running_;
    is_stopping_ = true;
    // Within the lock: the thread has not seen it yet, so that the handle is there.
    if (is_running) uv_async_send(&wake_);
  }
  if (is_running) {
    uv_thread_join(&thread_);
    uv_loop_close(&loop_);
  }
  for (const auto& [number, port] : ports_) {
    for (const SharedSocket& socket : port->sockets) close(socket.fd);
    CloseNamed(&port->meeting);
  }
  ports_.clear();
  for (const RegistrationResult& result : results_) {
    for (const int fd : result.sockets) close(fd);
  }
  results_.clear();
  CloseNamed(&link_socket_);
}

// -- The thread.

bool Sharing::Post(std::function<void()> command) {
  const std::lock_guard lock(commands_mutex_);
  if (is_stopping_) return false;
  commands_.push_back(std::move(command));
  if (!is_running_) {
    if (uv_loop_init(&loop_) != 0) {
      commands_.pop_back();
      return false;
    }
    uv_async_init(&loop_, &wake_,
                  [](uv_async_t* wake) { static_cast<Sharing*>(wake->data)->RunCommands(); });
    uv_timer_init(&loop_, &timer_);
    uv_timer_init(&loop_, &keys_timer_);
    wake_.data = timer_.data = keys_timer_.data = this;
    {
      const SignalsBlocked blocked;
      is_running_ = uv_thread_create(&thread_, Main, this) == 0;
    }
    if (!is_running_) {
      AbandonLoop();
      return false;
    }
  }
  uv_async_send(&wake_);
  return true;
}

// There is no thread for it.
void Sharing::AbandonLoop() {
  commands_.pop_back();
  uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&keys_timer_), nullptr);
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
}

void Sharing::OnThread(uint16_t number, std::function<void(Port*)> function) {
  if (current == this) {
    if (Port* port = Find(number)) function(port);
    return;
  }
  Post([this, number, function = std::move(function)] {
    const std::lock_guard lock(mutex_);
    if (Port* port = Find(number)) function(port);
  });
}

void Sharing::Main(void* argument) {
#ifdef __linux__
  pthread_setname_np(pthread_self(), "httpsys-share");
#endif
  current = static_cast<Sharing*>(argument);
  uv_run(&static_cast<Sharing*>(argument)->loop_, UV_RUN_DEFAULT);
}

void Sharing::RunCommands() {
  std::vector<std::function<void()>> commands;
  bool is_stopping;
  {
    const std::lock_guard lock(commands_mutex_);
    commands.swap(commands_);
    is_stopping = is_stopping_;
  }
  for (const auto& command : commands) command();
  const std::lock_guard lock(mutex_);
  if (!is_stopping) {
    ArmTimer();
    return;
  }
  for (const auto& [number, port] : ports_) SayGoodbye(port.get());
  for (const auto& [channel, number] : channels_) channel->Close();
  channels_.clear();
  uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&keys_timer_), nullptr);
}

// Who ends in order takes its prefixes back; those of one that does not are offline for a while.
void Sharing::SayGoodbye(Port* port) {
  for (const auto& [token, removal] : port->removals) {
    if (removal.is_told || port->upstream == nullptr) continue;
    port->upstream->Send(peer::FrameType::kUnregister, peer::Encode(removal.gone));
  }
  for (const auto& [server_id, list] : port->own) {
    const peer::Unregister gone{server_id, 0, 1, {}, 0};
    if (port->role == Role::kCoordinator) {
      RemoveEntries(port, id_, gone);
    } else if (port->upstream != nullptr) {
      port->upstream->Send(peer::FrameType::kUnregister, peer::Encode(gone));
    }
  }
  if (port->role == Role::kCoordinator) SyncAll(port);
}

void Sharing::ArmTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  const bool is_needed = std::any_of(ports_.begin(), ports_.end(), [](const auto& item) {
    const Port& port = *item.second;
    const bool has_visitor =
        std::any_of(port.sessions.begin(), port.sessions.end(),
                    [](const auto& session) { return session.second.id == 0; });
    return has_visitor || port.role == Role::kJoining || port.answer_deadline_ms != 0 ||
           !port.confirmations.empty() || !port.queries.empty() || port.reunion_deadline_ms != 0 ||
           port.state.NextExpiry().has_value();
  });
  if (!is_needed) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<Sharing*>(timer->data)->Tick(); }, kTickMs, 0);
}

void Sharing::Tick() {
  const std::lock_guard lock(mutex_);
  const uint64_t now_ms = NowMs();
  std::vector<uint16_t> numbers;
  numbers.reserve(ports_.size());
  for (const auto& [number, port] : ports_) numbers.push_back(number);
  for (const uint16_t number : numbers) {
    Port* port = Find(number);
    if (port == nullptr) continue;
    if (port->role == Role::kCoordinator) {
      TickCoordinator(port, now_ms);
    } else {
      TickMember(port, now_ms);
    }
  }
  ArmTimer();
}

void Sharing::OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) {
  // No frame here means more than one.
  int fd = fds.empty() ? -1 : fds[0];
  for (size_t i = 1; i < fds.size(); ++i) close(fds[i]);
  const std::lock_guard lock(mutex_);
  Port* port = PortOf(channel);
  bool is_sound = port != nullptr;
  if (port != nullptr && channel == port->upstream) {
    is_sound = OnUpstreamFrame(port, frame, &fd);
    if (!is_sound) OnUpstreamBroken(port);
  } else if (port != nullptr) {
    is_sound = OnSessionFrame(port, channel, frame, &fd);
    if (!is_sound) OnSessionBroken(port, channel);
  }
  if (fd != -1) close(fd);
  if (!is_sound && !channel->is_closed()) Forget(channel);
  ArmTimer();
}

void Sharing::OnBroken(Channel* channel) {
  const std::lock_guard lock(mutex_);
  Port* port = PortOf(channel);
  if (port != nullptr && channel == port->upstream) {
    OnUpstreamBroken(port);
  } else if (port != nullptr) {
    OnSessionBroken(port, channel);
  }
  if (!channel->is_closed()) Forget(channel);
  ArmTimer();
}

void Sharing::Forget(Channel* channel) {
  channels_.erase(channel);
  channel->Close();
}

// -- Ports.

Sharing::Port* Sharing::Find(uint16_t number) {
  const auto found = ports_.find(number);
  return found == ports_.end() ? nullptr : found->second.get();
}

Sharing::Port* Sharing::PortOf(Channel* channel) {
  const auto found = channels_.find(channel);
  return found == channels_.end() ? nullptr : Find(found->second);
}

void Sharing::PublishRoutes(Port* port, std::function<void()> applied) {
  const bool has_idle = std::any_of(port->own.begin(), port->own.end(),
                                    [](const auto& item) { return item.second.empty(); });
  delegate_->SetRoutes(PortRoutes::Create(port->number, id_, port->state, port->reserved, has_idle),
                       std::move(applied));
}

int Sharing::AddSocket(Port* port, int fd) {
  const std::string address = IsListeningOn(fd, port->number) ? BoundAddress(fd) : "";
  const bool is_known =
      std::any_of(port->sockets.begin(), port->sockets.end(),
                  [&](const SharedSocket& socket) { return socket.address == address; });
  int refused = 0;
  if (port->sockets.size() >= limits::kSharedSocketsMax) refused = ENOSPC;
  if (is_known) refused = EEXIST;
  if (address.empty()) refused = EINVAL;
  if (refused != 0) {
    close(fd);
    return refused;
  }
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  port->sockets.push_back({address, fd});
  return 0;
}

// Connections that wait on any of the port's sockets are everybody's: who opened it may have died.
void Sharing::EnsureAccepted(Port* port) {
  if (port->own.empty()) return;
  for (SharedSocket& socket : port->sockets) {
    if (port->own.contains(socket.accepted_by)) continue;
    const int copy = fcntl(socket.fd, F_DUPFD_CLOEXEC, 0);
    if (copy == -1) continue;
    socket.accepted_by = port->own.begin()->first;
    delegate_->AcceptFor(socket.accepted_by, copy);
  }
}

void Sharing::AddOwn(Port* port, peer::Register registered) {
  const bool is_fed = (registered.flags & peer::kEntryFed) != 0;
  port->own[registered.server_id].push_back(std::move(registered));
  EnsureAccepted(port);
  // The socket that others would wait for is nobody's here.
  if (is_fed) OpenMeeting(port);
}

PortSockets Sharing::CopySockets(const Port& port) {
  PortSockets copied;
  for (const SharedSocket& socket : port.sockets) {
    const int copy = fcntl(socket.fd, F_DUPFD_CLOEXEC, 0);
    if (copy != -1) copied.sockets.push_back(copy);
  }
  copied.fed = port.state.FedAddresses();
  return copied;
}

void Sharing::AddSockets(const Port& port, RegistrationResult* result) {
  PortSockets copied = CopySockets(port);
  result->sockets = std::move(copied.sockets);
  result->fed = std::move(copied.fed);
}

void Sharing::Complete(RegistrationResult result, const Port* port) {
  if (result.error == 0) AddSockets(*port, &result);
  results_.push_back(std::move(result));
  delegate_->WakeConsumer();
}

void Sharing::FailAll(Port* port, const RegistrationResult& why) {
  const auto fail = [&](uint32_t token) {
    RegistrationResult result = why;
    result.token = token;
    Complete(std::move(result), port);
  };
  for (const peer::Register& wanted : port->queued) fail(wanted.token);
  for (const auto& [token, wanted] : port->asked) fail(token);
  port->queued.clear();
  port->asked.clear();
}

// The lanes keep the last routes: connections that are left know where their requests go.
void Sharing::Drop(Port* port) {
  CompleteRemovals(port);
  if (port->meeting_key > 0) delegate_->Unwatch(port->meeting_key);
  CloseNamed(&port->meeting);
  for (const SharedSocket& socket : port->sockets) close(socket.fd);
  // Their own thread alone may close channels; without other members there are none.
  for (const auto& [channel, session] : port->sessions) Forget(channel);
  if (port->upstream != nullptr) Forget(port->upstream);
  ports_.erase(port->number);
}

// 0 or a positive errno.
int Sharing::EnsureLinkSocket() {
  if (link_key_ > 0) return 0;
  const std::string name = MemberName(id_);
  if (const int status = ListenUnder(name, &link_socket_); status != 0) return -status;
  // Takes the descriptor over.
  link_key_ = delegate_->Watch(std::exchange(link_socket_.fd, -1),
                               [this](int fd) { delegate_->OnLink(fd); });
  if (link_key_ <= 0) {
    CloseNamed(&link_socket_);
    return EMFILE;
  }
  if (link_socket_.lock_fd != -1) SweepFolder(name);
  return 0;
}

}  // namespace httpsys::sharing
