#include "engine/accept/acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "base/patience.h"
#include "base/signals_blocked.h"
#include "engine/connection/socket_options.h"
#include "records/addresses.h"

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

namespace httpsys::engine {
namespace {

int OpenReserve() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

int Accept(int fd) {
#ifdef __linux__
  return accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
  const int accepted = accept(fd, nullptr, nullptr);
  if (accepted == -1) return -1;
  SetCloseOnExec(accepted);
  fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) | O_NONBLOCK);
  return accepted;
#endif
}

// Connections that wait to be accepted, and how many may wait. False where nobody knows.
bool ReadAcceptQueue([[maybe_unused]] int fd, [[maybe_unused]] size_t* waiting,
                     [[maybe_unused]] size_t* room) {
#ifdef __linux__
  // Fields that mean something else for a listening socket (tcp_get_info() of the kernel).
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  *waiting = info.tcpi_unacked;
  *room = info.tcpi_sacked;
  return true;
#else
  return false;
#endif
}

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

template <typename Item>
bool IsIn(const std::vector<Item>& list, Item item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void CloseIfOpen(int* fd) {
  if (*fd != -1) close(*fd);
  *fd = -1;
}

}  // namespace

Acceptor::~Acceptor() { Stop(); }

int Acceptor::Start() {
  reserve_fd_ = OpenReserve();
#ifdef __linux__
  control_read_fd_ = control_write_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  bool is_ready = control_read_fd_ != -1 && epoll_fd_ != -1 &&
                  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, control_read_fd_, &event) == 0;
#else
  int ends[2];
  bool is_ready = pipe(ends) == 0;
  if (is_ready) {
    control_read_fd_ = ends[0];
    control_write_fd_ = ends[1];
    for (const int fd : ends) {
      SetCloseOnExec(fd);
      fcntl(fd, F_SETFL, O_NONBLOCK);
    }
  }
#endif
  int status = is_ready ? 0 : -errno;
  if (status == 0) {
    const SignalsBlocked blocked;
    status = uv_thread_create(&thread_, Main, this);
  }
  is_started_ = status == 0;
  if (!is_started_) CloseOwnDescriptors();
  return status;
}

void Acceptor::Stop() {
  if (!is_started_) return;
  is_started_ = false;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  Signal();
  uv_thread_join(&thread_);
  {
    const std::lock_guard lock(mutex_);
    for (const Listener& listener : listeners_) CloseListener(listener);
    listeners_.clear();
    lent_epoll_fd_ = -1;
  }
  CloseOwnDescriptors();
}

void Acceptor::CloseOwnDescriptors() {
  if (control_write_fd_ != control_read_fd_) CloseIfOpen(&control_write_fd_);
  control_write_fd_ = -1;
  CloseIfOpen(&control_read_fd_);
  CloseIfOpen(&epoll_fd_);
  CloseIfOpen(&reserve_fd_);
}

void Acceptor::Main(void* argument) {
#ifdef __linux__
  pthread_setname_np(pthread_self(), "httpsys-accept");
#endif
  static_cast<Acceptor*>(argument)->Run();
}

void Acceptor::Signal() {
  const uint64_t one = 1;
  ssize_t written;
  do {
    written = write(control_write_fd_, &one, sizeof one);
  } while (written < 0 && errno == EINTR);
}

// -- Listeners.

int Acceptor::Watch([[maybe_unused]] const Listener& listener) {
#ifdef __linux__
  epoll_event event{};
  event.events = EPOLLIN | EPOLLEXCLUSIVE;
  event.data.fd = listener.key;
  return epoll_ctl(EpollFdOf(listener), EPOLL_CTL_ADD, listener.fd, &event) == 0 ? 0 : -errno;
#else
  Signal();
  return 0;
#endif
}

int Acceptor::Add(uint32_t server_id, int fd, Sink sink, bool is_lendable) {
  const std::lock_guard lock(mutex_);
  const int key = next_key_++;
  Listener listener{server_id, fd, key, std::move(sink)};
  LocalAddress address;
  listener.port = LocalPort(fd, &address);
  listener.is_shared = IsIn(shared_ports_, listener.port);
  listener.is_lendable = is_lendable;
  listener.is_lent = IsForLane(listener);
  const int status = Watch(listener);
  if (status != 0) {
    close(fd);
    return status;
  }
  listeners_.push_back(std::move(listener));
  return key;
}

// Another descriptor of the same socket may live on, so close() alone would not end the watch.
void Acceptor::Unwatch([[maybe_unused]] const Listener& listener, [[maybe_unused]] int epoll_fd) {
#ifdef __linux__
  epoll_ctl(epoll_fd, EPOLL_CTL_DEL, listener.fd, nullptr);
#endif
}

int Acceptor::EpollFdOf(const Listener& listener) const {
  return listener.is_lent ? lent_epoll_fd_ : epoll_fd_;
}

void Acceptor::CloseListener(const Listener& listener) {
  Unwatch(listener, EpollFdOf(listener));
  close(listener.fd);
}

void Acceptor::Remove(uint32_t server_id) {
  RemoveIf([=](const Listener& listener) { return listener.server_id == server_id; });
}

void Acceptor::RemoveOne(int key) {
  RemoveIf([=](const Listener& listener) { return listener.key == key; });
}

template <typename Predicate>
void Acceptor::RemoveIf(Predicate is_meant) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [&](const Listener& listener) {
    if (!is_meant(listener)) return false;
    AcceptSome(listener);
    CloseListener(listener);
    return true;
  });
#ifndef __linux__
  Signal();
#endif
}

void Acceptor::Look() {
  {
    const std::lock_guard lock(mutex_);
    if (listeners_.empty() || is_stopping_) return;
    is_asked_to_look_ = true;
  }
  Signal();
}

void Acceptor::SetShared(uint16_t port, bool is_shared) {
  const std::lock_guard lock(mutex_);
  if (IsIn(shared_ports_, port) == is_shared) return;
  std::erase(shared_ports_, port);
  if (is_shared) shared_ports_.push_back(port);
  is_patient_ = !shared_ports_.empty();
  for (Listener& listener : listeners_) {
    if (listener.port != port) continue;
    listener.is_shared = is_shared;
    Settle(&listener);
  }
}

// -- A lane that accepts itself.

void Acceptor::LendTo(int epoll_fd) {
  const std::lock_guard lock(mutex_);
  lent_epoll_fd_ = epoll_fd;
}

bool Acceptor::IsForLane(const Listener& listener) const {
  return listener.is_lendable && !listener.is_shared && lent_epoll_fd_ != -1;
}

// It is never watched by nobody: when the system refuses, whoever had it keeps it.
void Acceptor::Settle(Listener* listener) {
  if (IsForLane(*listener) == listener->is_lent) return;
  if (!listener->is_lent) StandBy(listener);
  const int from = EpollFdOf(*listener);
  listener->is_lent = !listener->is_lent;
  if (Watch(*listener) != 0) {
    listener->is_lent = !listener->is_lent;
    return;
  }
  Unwatch(*listener, from);
}

bool Acceptor::AcceptLent([[maybe_unused]] const LentSink& sink) {
  bool has_accepted = false;
#ifdef __linux__
  const std::lock_guard lock(mutex_);
  if (lent_epoll_fd_ == -1) return false;
  epoll_event events[64];
  const int count = epoll_wait(lent_epoll_fd_, events, 64, 0);
  std::vector<int> fds;
  for (int i = 0; i < count; ++i) {
    Listener* listener = Find(events[i].data.fd);
    if (listener == nullptr) continue;
    fds.clear();
    if (AcceptWaiting(*listener, &fds) == AcceptResult::kExhausted) {
      listener->is_lendable = false;
      Settle(listener);
    }
    if (fds.empty()) continue;
    has_accepted = true;
    sink(listener->server_id, fds);
  }
#endif
  return has_accepted;
}

// -- The thread.

void Acceptor::Run() {
  std::vector<int> ready;
  int timeout_ms = -1;
  bool is_patient = false;
  for (;;) {
    if (is_patient != is_patient_) SetPatient(is_patient = is_patient_);
    Wait(&ready, timeout_ms);
    // Who works on this CPU lets clients connect again: what waits then is handed over together.
    const bool gives_way = is_patient && !ready.empty() && !way_backoff_.Skip();
    if (gives_way) GiveWay();
    size_t accepted = 0;
    bool is_exhausted = false;
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
      if (std::exchange(is_asked_to_look_, false)) {
        ready.clear();
        for (const Listener& listener : listeners_) ready.push_back(listener.key);
      }
      if (timeout_ms >= 0) AddDue(&ready);
      for (const int key : ready) {
        Listener* listener = Find(key);
        if (listener != nullptr && !Serve(listener, &accepted)) is_exhausted = true;
      }
      timeout_ms = TimeToLook();
    }
    if (gives_way) way_backoff_.OnWaited(accepted <= 1);
    if (is_exhausted) PauseBriefly();
  }
}

Acceptor::Listener* Acceptor::Find(int key) {
  const auto found = std::find_if(listeners_.begin(), listeners_.end(),
                                  [=](const Listener& listener) { return listener.key == key; });
  return found == listeners_.end() ? nullptr : &*found;
}

bool Acceptor::Serve(Listener* listener, size_t* accepted) {
  const bool was_resting = listener->look_at_ms != 0;
  size_t count = 0;
  const bool is_exhausted = AcceptSome(*listener, &count) == AcceptResult::kExhausted;
  *accepted += count;
  if (is_exhausted && listener->is_shared) {
    StepDown(listener);
    return true;
  }
  if (was_resting && count == 0 && !is_exhausted) {
    // No load, no need to share it.
    StandBy(listener);
  } else if (was_resting || listener->is_shared) {
    TakeTurn(listener);
  }
  return !is_exhausted;
}

// A process has its locks once: its worker threads do not keep each other from accepting.
bool Acceptor::Lock([[maybe_unused]] const Listener& listener, [[maybe_unused]] Duty duty,
                    [[maybe_unused]] bool is_wanted) {
#ifdef __linux__
  struct flock lock {};
  lock.l_type = is_wanted ? F_WRLCK : F_UNLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(duty);
  lock.l_len = 1;
  return fcntl(listener.fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
#else
  return true;
#endif
}

void Acceptor::Rest(Listener* listener, uint64_t pause_ms) {
  if (listener->look_at_ms == 0) Unwatch(*listener, EpollFdOf(*listener));
  listener->look_at_ms = NowMs() + pause_ms;
}

void Acceptor::StandBy(Listener* listener) {
  if (listener->look_at_ms == 0) return;
  listener->look_at_ms = 0;
  Watch(*listener);
}

// The duty is this process', or another one's that works.
void Acceptor::TakeTurn(Listener* listener) {
  if (listener->is_shared && !Lock(*listener, Duty::kAccept, true)) {
    listener->is_deputy = Lock(*listener, Duty::kDeputy, true);
    Rest(listener, PauseMs(*listener));
    return;
  }
  if (listener->is_deputy) Lock(*listener, Duty::kDeputy, false);
  listener->is_deputy = false;
  StandBy(listener);
}

// Out of descriptors, which others may have.
void Acceptor::StepDown(Listener* listener) {
  listener->has_stepped_down = true;
  Lock(*listener, Duty::kAccept, false);
  Rest(listener, limits::kAcceptLookMs);
}

int Acceptor::TimeToLook() const {
  uint64_t next_ms = UINT64_MAX;
  for (const Listener& listener : listeners_) {
    if (listener.look_at_ms != 0) next_ms = std::min(next_ms, listener.look_at_ms);
  }
  if (next_ms == UINT64_MAX) return -1;
  return static_cast<int>(next_ms - std::min(next_ms, NowMs()));
}

void Acceptor::AddDue(std::vector<int>* keys) {
  const uint64_t now_ms = NowMs();
  for (Listener& listener : listeners_) {
    const bool is_due = listener.look_at_ms != 0 && listener.look_at_ms <= now_ms;
    if (!is_due || IsIn(*keys, listener.key)) continue;
    if (MayTake(&listener)) keys->push_back(listener.key);
  }
}

bool Acceptor::MayTake(Listener* listener) {
  // What waits then nobody else has taken.
  if (std::exchange(listener->has_stepped_down, false)) return true;
  size_t waiting = 0;
  size_t room = 0;
  if (!listener->is_shared || !ReadAcceptQueue(listener->fd, &waiting, &room)) return true;
  const Standby::Step step = listener->standby.Look(waiting, room);
  if (step == Standby::Step::kTake) return true;
  TakeTurn(listener);
  if (step == Standby::Step::kRest) StandBy(listener);
  return false;
}

uint64_t Acceptor::PauseMs(const Listener& listener) {
  return listener.is_deputy ? limits::kDeputyLookMs : limits::kAcceptLookMs;
}

void Acceptor::Wait(std::vector<int>* keys, [[maybe_unused]] int timeout_ms) {
  keys->clear();
#ifdef __linux__
  epoll_event events[64];
  const int count = epoll_wait(epoll_fd_, events, 64, timeout_ms);
  bool is_signalled = false;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == 0) {
      is_signalled = true;
    } else {
      keys->push_back(events[i].data.fd);
    }
  }
#else
  std::vector<pollfd> watched;
  std::vector<int> watched_keys;
  {
    const std::lock_guard lock(mutex_);
    for (const Listener& listener : listeners_) {
      watched.push_back({listener.fd, POLLIN, 0});
      watched_keys.push_back(listener.key);
    }
  }
  watched.push_back({control_read_fd_, POLLIN, 0});
  poll(watched.data(), static_cast<nfds_t>(watched.size()), -1);
  for (size_t i = 0; i < watched_keys.size(); ++i) {
    if (watched[i].revents != 0) keys->push_back(watched_keys[i]);
  }
  const bool is_signalled = watched.back().revents != 0;
#endif
  if (!is_signalled) return;
  uint64_t signals[16];
  while (read(control_read_fd_, signals, sizeof signals) > 0) {
  }
}

// Whoever gets them is woken once, not in the middle: with one wake each, a busy machine would take
// them one by one through all its threads.
Acceptor::AcceptResult Acceptor::AcceptSome(const Listener& listener, size_t* count) {
  std::vector<int> accepted;
  const AcceptResult result = AcceptWaiting(listener, &accepted);
  if (count != nullptr) *count = accepted.size();
  if (!accepted.empty()) listener.sink(accepted);
  return result;
}

Acceptor::AcceptResult Acceptor::AcceptWaiting(const Listener& listener,
                                               std::vector<int>* accepted) {
  AcceptResult result = AcceptResult::kAccepted;
  for (int i = 0; i < limits::kAcceptsPerWake && result == AcceptResult::kAccepted; ++i) {
    result = AcceptOne(listener, accepted);
  }
  return result;
}

Acceptor::AcceptResult Acceptor::AcceptOne(const Listener& listener, std::vector<int>* accepted) {
  const int fd = Accept(listener.fd);
  if (fd != -1) {
    accepted->push_back(fd);
    return AcceptResult::kAccepted;
  }
  switch (errno) {
    case EMFILE:
    case ENFILE:
      // First somebody else may take it.
      if (listener.is_shared && listener.look_at_ms == 0) return AcceptResult::kExhausted;
      return GiveUpReserve(listener) ? AcceptResult::kAccepted : AcceptResult::kExhausted;
    case ENOBUFS:
    case ENOMEM:
      return AcceptResult::kExhausted;
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
      return AcceptResult::kAccepted;
    default:
      // EAGAIN, or an error of this one connection: readiness comes again.
      return AcceptResult::kNothing;
  }
}

bool Acceptor::GiveUpReserve(const Listener& listener) {
  if (reserve_fd_ == -1) {
    reserve_fd_ = OpenReserve();
    return false;
  }
  CloseIfOpen(&reserve_fd_);
  const int fd = Accept(listener.fd);
  if (fd != -1) close(fd);
  reserve_fd_ = OpenReserve();
  return fd != -1;
}

void Acceptor::PauseBriefly() {
  pollfd control{control_read_fd_, POLLIN, 0};
  poll(&control, 1, limits::kAcceptBackoffMs);
}

}  // namespace httpsys::engine
