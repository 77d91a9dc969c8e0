#include "engine/accept/acceptor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "base/thread.h"
#include "records/addresses.h"

namespace httpsys::engine {
namespace {

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

template <typename Item>
bool IsIn(const std::vector<Item>& list, Item item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

Acceptor::Acceptor(std::unique_ptr<ListenerPoll> poll) : poll_(std::move(poll)) {}

Acceptor::~Acceptor() { Stop(); }

int Acceptor::Start() {
  int status = poll_->Open();
  if (status == 0) {
    const SignalsBlocked blocked;
    status = uv_thread_create(&thread_, Main, this);
  }
  is_started_ = status == 0;
  if (!is_started_) poll_->Close();
  return status;
}

void Acceptor::Stop() {
  if (!is_started_) return;
  is_started_ = false;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  poll_->Signal();
  uv_thread_join(&thread_);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, listener] : listeners_) CloseListener(listener);
    listeners_.clear();
    looks_.clear();
    lent_set_ = -1;
  }
  poll_->Close();
}

void Acceptor::Main(void* argument) {
  SetThreadName("httpsys-accept");
  static_cast<Acceptor*>(argument)->Run();
}

// -- Listeners.

int Acceptor::Watch(const Listener& listener) {
  return listener.is_lent ? poll_->WatchIn(lent_set_, listener.fd, listener.key)
                          : poll_->Watch(listener.fd, listener.key);
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
  listeners_.emplace(key, std::move(listener));
  return key;
}

void Acceptor::Unwatch(const Listener& listener) {
  if (listener.is_lent) {
    poll_->UnwatchIn(lent_set_, listener.fd);
  } else {
    poll_->Unwatch(listener.fd, listener.key);
  }
}

void Acceptor::CloseListener(const Listener& listener) {
  Unwatch(listener);
  close(listener.fd);
}

void Acceptor::Remove(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  for (auto at = listeners_.begin(); at != listeners_.end();) {
    at = at->second.server_id == server_id ? Remove(at) : std::next(at);
  }
}

void Acceptor::RemoveOne(int key) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(key);
  if (found != listeners_.end()) Remove(found);
}

Acceptor::Listeners::iterator Acceptor::Remove(Listeners::iterator at) {
  AcceptSome(at->second);
  CloseListener(at->second);
  looks_.erase({at->second.look_at_ms, at->first});
  return listeners_.erase(at);
}

void Acceptor::LookAfter(uint16_t port, uint64_t departures) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(departures_[port], departures) == departures || is_stopping_) return;
    ports_to_look_at_.insert(port);
  }
  poll_->Signal();
}

void Acceptor::SetShared(uint16_t port, bool is_shared) {
  const std::lock_guard lock(mutex_);
  if (IsIn(shared_ports_, port) == is_shared) return;
  std::erase(shared_ports_, port);
  if (is_shared) shared_ports_.push_back(port);
  is_patient_ = !shared_ports_.empty();
  for (auto& [key, listener] : listeners_) {
    if (listener.port != port) continue;
    listener.is_shared = is_shared;
    Settle(&listener);
  }
}

// -- A lane that accepts itself.

void Acceptor::LendTo(int set) {
  const std::lock_guard lock(mutex_);
  lent_set_ = set;
}

bool Acceptor::IsForLane(const Listener& listener) const {
  return listener.is_lendable && !listener.is_shared && lent_set_ != -1;
}

// Moves a listener to the thread that should watch it. Starts the new watch before it ends the old
// one: if the system refuses the new one, the old one stays.
void Acceptor::Settle(Listener* listener) {
  if (IsForLane(*listener) == listener->is_lent) return;
  if (!listener->is_lent) StandBy(listener);
  const auto give = [&] { listener->is_lent = !listener->is_lent; };
  give();
  const bool is_watched = Watch(*listener) == 0;
  give();
  if (!is_watched) return;
  Unwatch(*listener);
  give();
}

bool Acceptor::AcceptLent(const LentSink& sink) {
  const std::lock_guard lock(mutex_);
  if (lent_set_ == -1) return false;
  bool has_accepted = false;
  std::vector<int> ready;
  poll_->ReadyIn(lent_set_, &ready);
  std::vector<int> fds;
  for (const int key : ready) {
    Listener* listener = Find(key);
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
  return has_accepted;
}

// -- The thread.

void Acceptor::Run() {
  std::vector<int> ready;
  int timeout_ms = -1;
  bool is_patient = false;
  for (;;) {
    if (is_patient != is_patient_) SetPatient(is_patient = is_patient_);
    poll_->Wait(&ready, timeout_ms);
    // Yield to other threads on this CPU, so that more clients can connect. Then all waiting
    // connections are handed over together.
    const bool gives_way = is_patient && !ready.empty() && !way_backoff_.Skip();
    if (gives_way) GiveWay();
    size_t accepted = 0;
    bool is_exhausted = false;
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
      if (!ports_to_look_at_.empty()) {
        for (const auto& [key, listener] : listeners_) {
          if (ports_to_look_at_.contains(listener.port) && !IsIn(ready, key)) ready.push_back(key);
        }
        ports_to_look_at_.clear();
      }
      if (timeout_ms >= 0) AddDue(&ready);
      for (const int key : ready) {
        Listener* listener = Find(key);
        if (listener != nullptr && !Serve(listener, &accepted)) is_exhausted = true;
      }
      timeout_ms = TimeToLook();
    }
    if (gives_way) way_backoff_.OnWaited(accepted <= 1);
    if (is_exhausted) poll_->Pause(limits::kAcceptBackoffMs);
  }
}

Acceptor::Listener* Acceptor::Find(int key) {
  const auto found = listeners_.find(key);
  return found == listeners_.end() ? nullptr : &found->second;
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
    // No connection was waiting: without load, none need be left to the process on duty.
    StandBy(listener);
  } else if (was_resting || listener->is_shared) {
    TakeTurn(listener);
  }
  return !is_exhausted;
}

bool Acceptor::Lock(const Listener& listener, Duty duty, bool is_wanted) const {
  return poll_->Lock(listener.fd, static_cast<uint8_t>(duty), is_wanted);
}

void Acceptor::SetLookAt(Listener* listener, uint64_t at_ms) {
  if (listener->look_at_ms != 0) looks_.erase({listener->look_at_ms, listener->key});
  listener->look_at_ms = at_ms;
  if (at_ms != 0) looks_.emplace(at_ms, listener->key);
}

void Acceptor::Rest(Listener* listener, uint64_t pause_ms) {
  if (listener->look_at_ms == 0) Unwatch(*listener);
  SetLookAt(listener, NowMs() + pause_ms);
}

void Acceptor::StandBy(Listener* listener) {
  if (listener->look_at_ms == 0) return;
  SetLookAt(listener, 0);
  Watch(*listener);
}

// Takes the duty for this process. If another process has it, the listener rests until checked.
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

// Gives up the duty: this process is out of descriptors, and another one may have some.
void Acceptor::StepDown(Listener* listener) {
  listener->has_stepped_down = true;
  Lock(*listener, Duty::kAccept, false);
  Rest(listener, limits::kAcceptLookMs);
}

int Acceptor::TimeToLook() const {
  if (looks_.empty()) return -1;
  const uint64_t next_ms = looks_.begin()->first;
  return static_cast<int>(next_ms - std::min(next_ms, NowMs()));
}

void Acceptor::AddDue(std::vector<int>* keys) {
  // Collect first, because MayTake() changes looks_.
  std::vector<int> due;
  const uint64_t now_ms = NowMs();
  for (const auto& [at_ms, key] : looks_) {
    if (at_ms > now_ms) break;
    due.push_back(key);
  }
  for (const int key : due) {
    if (!IsIn(*keys, key) && MayTake(Find(key))) keys->push_back(key);
  }
}

bool Acceptor::MayTake(Listener* listener) {
  // This process has stepped down, and no other process has accepted the waiting connections.
  if (std::exchange(listener->has_stepped_down, false)) return true;
  size_t waiting = 0;
  size_t room = 0;
  if (!listener->is_shared || !poll_->ReadQueue(listener->fd, &waiting, &room)) return true;
  const Standby::Step step = listener->standby.Look(waiting, room);
  if (step == Standby::Step::kTake) return true;
  TakeTurn(listener);
  if (step == Standby::Step::kRest) StandBy(listener);
  return false;
}

uint64_t Acceptor::PauseMs(const Listener& listener) {
  return listener.is_deputy ? limits::kDeputyLookMs : limits::kAcceptLookMs;
}

// Accepts waiting connections and gives all of them to the sink at once, so that the receiver is
// woken once. Otherwise each would pass through a busy machine's threads separately.
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
  const int fd = poll_->Accept(listener.fd);
  if (fd != -1) {
    accepted->push_back(fd);
    return AcceptResult::kAccepted;
  }
  switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return AcceptResult::kExhausted;
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
      return AcceptResult::kAccepted;
    default:
      // EAGAIN, or an error of a single connection: the system will report readiness again.
      return AcceptResult::kNothing;
  }
}

AcceptWatch::~AcceptWatch() {
  if (fd_ != -1) close(fd_);
}

void AcceptWatch::Start(uv_loop_t* loop) {
  fd_ = acceptor_->OpenSet();
  if (fd_ == -1 || uv_poll_init(loop, &poll_, fd_) != 0) return;
  poll_.data = this;
  is_started_ = true;
  const int failed = uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
    auto* self = static_cast<AcceptWatch*>(poll->data);
    if (self->acceptor_->AcceptLent(self->sink_)) self->done_();
  });
  if (failed == 0) acceptor_->LendTo(fd_);
}

void AcceptWatch::Close() {
  if (is_started_) uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  is_started_ = false;
}

}  // namespace httpsys::engine
