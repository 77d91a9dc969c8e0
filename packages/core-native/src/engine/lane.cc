#include "engine/lane.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "common/limits.h"
#include "common/patience.h"
#include "common/signals_blocked.h"
#include "engine/error_log.h"

namespace httpsys::engine {
namespace {

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

constexpr uint64_t kNsPerMs = 1'000'000;

}  // namespace

void DrainBarrier::Arrive() {
  const std::lock_guard lock(mutex_);
  if (--lanes_left_ == 0) changed_.notify_all();
}

bool DrainBarrier::Wait(uint64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [this] { return lanes_left_ == 0; });
}

Lane::Lane(size_t index, const LaneMemory& memory, const http1::MethodTable* methods,
           ConsumerSignal* signal, uint64_t member_id, PortStatistics* statistics)
    : index_(index),
      control_(memory.control),
      signal_(signal),
      queue_(memory.segments),
      replies_(control_),
      refused_(&control_[records::kRequestsRefused]),
      records_(&queue_, RandomSeed()),
      methods_(methods),
      member_id_(member_id),
      statistics_(statistics) {
  queue_.set_reading(&control_[records::kDispatchResume]);
}

Lane::~Lane() { Stop(); }

int Lane::Start(Acceptor* lender) {
  if (const int failed = uv_loop_init(&loop_); failed != 0) return failed;
  uv_async_init(&loop_, &wake_,
                [](uv_async_t* handle) { static_cast<Lane*>(handle->data)->RunCommands(); });
  uv_prepare_init(&loop_, &prepare_);
  uv_check_init(&loop_, &check_);
  uv_timer_init(&loop_, &peek_timer_);
  uv_timer_init(&loop_, &late_timer_);
  uv_timer_init(&loop_, &log_timer_);
  wake_.data = prepare_.data = check_.data = peek_timer_.data = late_timer_.data = this;
  uv_prepare_start(&prepare_,
                   [](uv_prepare_t* handle) { static_cast<Lane*>(handle->data)->BeforePoll(); });
  uv_check_start(&check_,
                 [](uv_check_t* handle) { static_cast<Lane*>(handle->data)->AfterPoll(); });
  transport_ = std::make_unique<Transport>(&loop_, &records_, &lent_, &load_);
  router_ =
      std::make_unique<PortRouter>(&loop_, member_id_, methods_, &queue_, &servers_, statistics_);
  handshakes_ = std::make_unique<TlsHandshakes>(&records_, transport_.get(), router_.get());
  websockets_ = std::make_unique<WebSocketSession>(&loop_, &lent_, queue_.block_pool().get(),
                                                   &records_, transport_.get());
  session_ = std::make_unique<Http1Session>(methods_, &queue_, &records_, transport_.get(),
                                            router_.get(), websockets_.get(), &refused_);
  http2_ = std::make_unique<Http2Session>(&loop_, methods_, &queue_, &records_, transport_.get(),
                                          router_.get());
  http2_->set_http1(session_.get());
  session_->set_http2(http2_.get());
  transport_->set_stream_handler(http2_.get());
  router_->Start(transport_.get(), session_.get(), http2_.get());
  processor_ = std::make_unique<ReplyProcessor>(&replies_, &lent_, &records_, transport_.get(),
                                                session_.get(), http2_.get(), router_.get(),
                                                websockets_.get());
  transport_->set_input_handler(this);
  if (lender != nullptr) {
    accept_watch_ = std::make_unique<AcceptWatch>(
        lender,
        [this](uint32_t server_id, const std::vector<int>& fds) {
          EnqueueAccepted(server_id, fds);
        },
        [this] { RunCommands(); });
    accept_watch_->Start(&loop_);
  }

  int failed;
  {
    const SignalsBlocked blocked;
    failed = uv_thread_create(&thread_, Main, this);
  }
  if (failed != 0) {
    CloseHandles();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
    return failed;
  }
#ifdef __linux__
  pthread_setname_np(thread_, ("httpsys-io-" + std::to_string(index_)).c_str());
#endif
  is_started_ = true;
  return 0;
}

void Lane::Stop() {
  if (!is_started_) return;
  is_started_ = false;
  Post([this] { CloseHandles(); });
  uv_thread_join(&thread_);
  uv_loop_close(&loop_);
}

void Lane::Main(void* argument) {
  auto* self = static_cast<Lane*>(argument);
  uv_run(&self->loop_, UV_RUN_DEFAULT);
}

void Lane::CloseHandles() {
  is_stopping_ = true;
  WakeUp();
  transport_->Shutdown();
  router_->Close();
  websockets_->Close();
  if (accept_watch_ != nullptr) accept_watch_->Close();
  for (const auto& barrier : drains_) barrier->Arrive();
  drains_.clear();
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&log_timer_)) != 0) {
    ErrorLog::Instance().WriteDropped(true);
  }
  for (uv_handle_t* handle :
       {reinterpret_cast<uv_handle_t*>(&wake_), reinterpret_cast<uv_handle_t*>(&prepare_),
        reinterpret_cast<uv_handle_t*>(&check_), reinterpret_cast<uv_handle_t*>(&peek_timer_),
        reinterpret_cast<uv_handle_t*>(&late_timer_),
        reinterpret_cast<uv_handle_t*>(&log_timer_)}) {
    uv_close(handle, nullptr);
  }
}

// -- The turn of the loop.

void Lane::BeforePoll() {
  session_->BeginPass();
  records_.BeginPass();
  session_->RefuseOverdue(uv_now(&loop_));
  // What was read before is told before what JavaScript wants is done: a client that says goodbye
  // and loses its connection to another server of this process is heard first, as on one thread.
  PublishRequests();
  bool has_waited = false;
  for (int pass = 1;; ++pass) {
    if (processor_->Run()) peek_ms_ = 0;
    if (router_->has_waiting() && !queue_.HasUnread()) router_->Retry();
    FlushAndResume();
    router_->links().Flush();
    PublishRequests();
    const bool may_wait = !has_waited && queue_.HasUnread() && drains_.empty();
    // Awake, so that JavaScript need not wake this thread when it has its turn now.
    if (may_wait && router_->has_peers()) GiveWay();
    FallAsleep();
    bool is_called = false;
    if (may_wait) {
      has_waited = true;
      is_called = !replies_.HasMore() && !nap_backoff_.Skip() && Nap();
    }
    // Whoever calls takes kLaneSleeping away: it must be set anew before the poll.
    if (!is_called && !replies_.HasMore()) break;
    WakeUp();
    if (pass == limits::kPassesPerPoll) {
      Wake();
      break;
    }
  }
  // There is more to be read when other members that wait for this CPU have worked.
  if (router_->has_peers()) GiveWay();
  TakeEarly();
  if (!drains_.empty()) AnswerDrains();
  transport_->WatchOverdue();
  if (session_->TakeDroppedLines()) ArmLogTimer();
  ArmPeekTimer();
}

void Lane::AfterPoll() {
  WakeUp();
  // Before closed connections are freed: none may stay in the list.
  FlushAndResume();
  transport_->FreeClosed();
}

// What goes on after output was sent may send more; each turn handles bytes that were read, so that
// it ends.
void Lane::FlushAndResume() {
  while (transport_->has_touched()) {
    transport_->FlushTouched(&touched_);
    session_->ResumeWanted(touched_);
    touched_.clear();
  }
}

void Lane::OnReadable(Connection* connection) {
  WakeUp();
  if (has_config_.load(std::memory_order_acquire)) RunConfigs();
  if (connection->phase == InputPhase::kHandshake && !handshakes_->OnReadable(connection)) return;
  session_->OnReadable(connection);
}

void Lane::OnHandshakeTimeout(Connection* connection) {
  WakeUp();
  handshakes_->OnTimeout(connection);
}

void Lane::OnDisconnect(Connection* connection) {
  WakeUp();
  session_->OnDisconnect(connection);
}

void Lane::OnOutputEnding(Connection* connection) { router_->OnOutputEnding(connection); }

void Lane::OnAnnounced(Connection* connection) { router_->OnAnnounced(connection); }

void Lane::OnDetached(Connection* connection) {
  handshakes_->OnDetached(connection);
  router_->OnDetached(connection);
}

void Lane::FallAsleep() {
  is_sleeping_ = true;
  control_[records::kLaneSleeping].store(1, std::memory_order_seq_cst);
}

void Lane::WakeUp() {
  if (!is_sleeping_) return;
  is_sleeping_ = false;
  control_[records::kLaneSleeping].store(0, std::memory_order_seq_cst);
}

void Lane::Wake() {
  uv_async_send(&wake_);
  EndNap();
}

void Lane::WakeIfSleeping() {
  if (control_[records::kLaneSleeping].exchange(0, std::memory_order_seq_cst) != 1) return;
  if (!EndNap()) uv_async_send(&wake_);
}

// While JavaScript works on what it was given, a new request would only wait behind that, and
// replies are about to come: sockets read together, and replies sent together, cost less than one
// by one. JavaScript ends the nap when its batch is done. True when it was ended.
bool Lane::Nap() {
  std::unique_lock lock(nap_mutex_);
  // Replies published before is_napping_ was set came with a wake of the loop, not of the nap.
  if (replies_.HasMore()) return false;
  is_napping_ = true;
  const bool is_called = nap_over_.wait_for(lock, std::chrono::microseconds(limits::kNapUs),
                                            [this] { return !is_napping_; });
  is_napping_ = false;
  nap_backoff_.OnWaited(!is_called && !signal_->is_draining());
  return is_called;
}

// False when the lane was not napping.
bool Lane::EndNap() {
  {
    const std::lock_guard lock(nap_mutex_);
    if (!is_napping_) return false;
    is_napping_ = false;
  }
  nap_over_.notify_one();
  return true;
}

// Waking JavaScript costs more than all that it does on hearing that a connection has ended, or
// begun.
void Lane::PublishRequests() {
  const bool is_due = std::exchange(is_late_due_, false) || !drains_.empty() || queue_.stalled();
  const Urgency urgency = records_.TakeUrgency();
  if (urgency == Urgency::kNow || is_due) return PublishNow();
  if (!queue_.HasUnpublished()) return;
  const uint64_t late_ms =
      urgency == Urgency::kSoon ? limits::kOpenToldLateMs : limits::kToldLateMs;
  const bool is_set = uv_is_active(reinterpret_cast<uv_handle_t*>(&late_timer_)) != 0;
  if (is_set && uv_timer_get_due_in(&late_timer_) <= late_ms) return;
  uv_timer_start(
      &late_timer_, [](uv_timer_t* timer) { static_cast<Lane*>(timer->data)->is_late_due_ = true; },
      late_ms, 0);
}

void Lane::PublishNow() {
  // Something urgent takes along what was to be told late.
  uv_timer_stop(&late_timer_);
  router_->OnPublishing();
  if (queue_.Publish()) signal_->Raise();
  // A stall may begin and end between two calls: whether somebody was paused is what counts.
  while (!queue_.stalled() && session_->TakeStalled()) {
    transport_->ForEach([this](Connection* connection) {
      if (connection->is_open() && (connection->pauses & kPauseMemory) != 0) {
        session_->ResumeInput(connection, kPauseMemory);
      }
    });
    if (queue_.Publish()) signal_->Raise();
  }
}

// While JavaScript works on this lane's records it may publish replies without a wake. Before that
// there is nothing to be seen.
void Lane::ArmPeekTimer() {
  if (!queue_.HasUnread() && !signal_->is_draining()) {
    peek_ms_ = 0;
    uv_timer_stop(&peek_timer_);
    return;
  }
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&peek_timer_)) != 0) return;
  const uint64_t next_ms = peek_ms_ == 0 ? limits::kPeekMs : peek_ms_ * 2;
  if (signal_->is_draining()) {
    peek_ms_ = std::min(next_ms, limits::kPeekMsMax);
  } else {
    peek_ms_ = nap_backoff_.is_active()
                   ? limits::kPeekIdleMsMax
                   : std::clamp(next_ms, limits::kPeekMsMax, limits::kPeekIdleMsMax);
  }
  // BeforePoll() follows and looks.
  uv_timer_start(&peek_timer_, [](uv_timer_t*) {}, peek_ms_, 0);
}

// How many lines were left out is said although no further one comes.
void Lane::ArmLogTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&log_timer_)) != 0) return;
  const auto say = [](uv_timer_t* timer) {
    if (ErrorLog::Instance().WriteDropped(false)) uv_timer_stop(timer);
  };
  uv_timer_start(&log_timer_, say, limits::kLogDroppedMs, limits::kLogDroppedRetryMs);
}

// -- Commands.

void Lane::Enqueue(std::function<void()> command, CommandKind kind) {
  const std::lock_guard lock(mutex_);
  commands_.push_back({std::move(command), kind});
  if (kind == CommandKind::kConfig) has_config_.store(true, std::memory_order_release);
}

void Lane::Post(std::function<void()> command, CommandKind kind) {
  Enqueue(std::move(command), kind);
  Wake();
}

// A poll may find a request before the wake of the settings that it was sent after. Only settings
// and routes run here, which leave the connection alone that is about to be read, and in their
// order among the commands.
void Lane::RunConfigs() {
  std::vector<Command> configs;
  {
    const std::lock_guard lock(mutex_);
    has_config_.store(false, std::memory_order_relaxed);
    const auto other = std::find_if(commands_.begin(), commands_.end(), [](const Command& command) {
      return command.kind != CommandKind::kConfig;
    });
    configs.assign(std::make_move_iterator(commands_.begin()), std::make_move_iterator(other));
    commands_.erase(commands_.begin(), other);
  }
  for (const Command& config : configs) config.run();
}

void Lane::RunCommands() {
  WakeUp();
  std::vector<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
    has_config_.store(false, std::memory_order_relaxed);
  }
  for (const Command& command : commands) {
    // It is about every connection that was accepted before.
    if (command.kind == CommandKind::kOther) {
      OpenEarly();
      TakeAccepted(false);
    }
    command.run();
  }
  TakeAccepted(true);
}

// Behind settings that came after the connections: a request may have been sent after those.
void Lane::TakeAccepted(bool may_wait) {
  if (accepted_.empty()) return;
  if (has_config_.load(std::memory_order_acquire)) RunConfigs();
  for (const Accepted& accepted : accepted_) {
    if (!Take(accepted, may_wait)) early_.push_back(accepted);
  }
  accepted_.clear();
}

void Lane::OpenEarly() {
  for (const Accepted& accepted : early_) Take(accepted, false);
  early_.clear();
}

// Clients that are about to send, as a rule: by now most have. To watch one for that costs more
// than the rest of its way to another member.
void Lane::TakeEarly() {
  if (early_.empty()) return;
  OpenEarly();
  FlushAndResume();
  router_->links().Flush();
  PublishRequests();
}

bool Lane::Take(const Accepted& accepted, bool may_wait) {
  const auto found = servers_.find(accepted.server_id);
  const bool is_welcome = found != servers_.end() && !is_stopping_;
  LaneServer* server = is_welcome ? found->second.get() : nullptr;
  std::string_view bytes;
  PortRouter::FirstLook look = PortRouter::FirstLook::kStays;
  if (is_welcome && router_->has_peers()) {
    look = router_->PassOn(accepted.fd, &server, &bytes);
  }
  if (look == PortRouter::FirstLook::kTooEarly && may_wait) return false;
  const bool is_passed_on = look == PortRouter::FirstLook::kPassedOn;
  if (!is_welcome || is_passed_on) {
    if (!is_passed_on) close(accepted.fd);
    load_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  Connection* connection = transport_->Open(accepted.fd, server);
  if (connection == nullptr) return true;
  if (connection->tls == nullptr && !router_->IsShared(connection->local_port)) {
    transport_->Announce(connection, 0);
  } else if (!bytes.empty()) {
    session_->OnHandedOver(connection, bytes);
  }
  transport_->Watch(connection);
  return true;
}

void Lane::SetConfig(uint32_t server_id, std::shared_ptr<const ServerConfig> config) {
  Post(
      [this, server_id, config = std::move(config)] {
        SweepServers();
        std::unique_ptr<LaneServer>& server = servers_[server_id];
        if (server == nullptr) {
          server = std::make_unique<LaneServer>();
          PortStatistics::Server* statistics = statistics_->ServerOf(server_id);
          server->queued = &statistics->queued;
          server->refused = &statistics->refused;
        }
        statistics_->ServerOf(server_id)->queue_limit = config->settings().queue_limit;
        server->id = server_id;
        server->is_unlistened = false;
        server->config = config;
      },
      CommandKind::kConfig);
}

void Lane::Unlisten(uint32_t server_id) {
  Post([this, server_id] {
    const auto found = servers_.find(server_id);
    if (found != servers_.end()) {
      found->second->is_unlistened = true;
      is_late_due_ = true;
      MoveUnannounced(found->second.get());
    }
    SweepServers();
  });
}

// Connections without a request so far: JavaScript has not heard of them and cannot close them.
void Lane::MoveUnannounced(LaneServer* server) {
  transport_->ForEach([&](Connection* connection) {
    if (!connection->is_open() || connection->server != server || connection->is_announced ||
        connection->stream != nullptr) {
      return;
    }
    if (connection->http2 != nullptr) {
      // Its streams are others', who need it: the server waits for them.
      if (connection->http2->streams != 0) transport_->Announce(connection, records::kFlagShared);
      return http2_->Shutdown(connection);
    }
    if (connection->phase != InputPhase::kHandshake) return router_->Leave(connection);
    // Untouched, another member can have it.
    if (!connection->is_hello_routed && router_->MoveAway(connection)) return;
    transport_->Announce(connection, records::kFlagPending);
  });
}

void Lane::SweepServers() {
  std::erase_if(servers_, [](const auto& entry) {
    return entry.second->is_unlistened && entry.second->connections == 0;
  });
}

void Lane::Adopt(uint32_t server_id, const std::vector<int>& fds) {
  EnqueueAccepted(server_id, fds);
  Wake();
}

void Lane::EnqueueAccepted(uint32_t server_id, const std::vector<int>& fds) {
  load_.fetch_add(static_cast<uint32_t>(fds.size()), std::memory_order_relaxed);
  Enqueue(
      [this, server_id, fds] {
        for (const int fd : fds) accepted_.push_back({server_id, fd});
      },
      CommandKind::kAdopt);
}

void Lane::SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                     std::function<void()> done) {
  Post(
      [this, routes = std::move(routes), done = std::move(done)] {
        if (!is_stopping_) {
          router_->SetRoutes(routes);
          // Lanes of other processes share the CPUs with this one, and their work.
          SetPatient(router_->has_peers());
        }
        if (done) done();
      },
      CommandKind::kConfig);
}

void Lane::AnswerHello(uint32_t id, tls::HelloAnswer answer) {
  Post([this, id, answer = std::move(answer)] {
    Connection* connection = nullptr;
    if (is_stopping_ || !handshakes_->OnAnswer(id, answer, &connection)) return;
    session_->OnReadable(connection);
    transport_->CheckPending(connection);
  });
}

std::string Lane::AskTls(uint32_t slot, tls::Question question, std::string argument) {
  auto answer = std::make_shared<std::promise<std::string>>();
  std::future<std::string> result = answer->get_future();
  Post([this, slot, question, argument = std::move(argument), answer] {
    const Connection* connection = is_stopping_ ? nullptr : transport_->Find(slot);
    const bool has_tls = connection != nullptr && connection->tls != nullptr;
    answer->set_value(has_tls ? connection->tls->Ask(question, argument) : std::string());
  });
  return result.wait_for(std::chrono::milliseconds(limits::kTlsAskMs)) == std::future_status::ready
             ? result.get()
             : std::string();
}

void Lane::AcceptLink(int fd) {
  Post([this, fd] {
    if (is_stopping_) {
      close(fd);
    } else {
      router_->links().Accept(fd);
    }
  });
}

void Lane::CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                            uint64_t request_timeout_ms) {
  Post([this, server_id, headers_timeout_ms, request_timeout_ms] {
    const uint64_t now_ns = uv_hrtime();
    transport_->ForEach([&](Connection* connection) {
      if (!connection->is_open() || connection->server->id != server_id) return;
      session_->CheckTimeouts(connection, now_ns, headers_timeout_ms * kNsPerMs,
                              request_timeout_ms * kNsPerMs);
    });
  });
}

void Lane::Drain(std::shared_ptr<DrainBarrier> barrier) {
  Post([this, barrier = std::move(barrier)] {
    if (is_stopping_) {
      barrier->Arrive();
    } else {
      drains_.push_back(barrier);
    }
  });
}

void Lane::RefuseAbandoned() {
  Post([this] {
    if (!is_stopping_) session_->RefuseAbandoned();
  });
}

void Lane::AnswerDrains() {
  if (replies_.HasMore()) return;
  const bool is_sent = transport_->pending_outputs() == 0 && !router_->links().HasUnacknowledged();
  std::erase_if(drains_, [=](const std::shared_ptr<DrainBarrier>& barrier) {
    if (!is_sent && barrier->goal() == DrainGoal::kSent) return false;
    barrier->Arrive();
    return true;
  });
}

}  // namespace httpsys::engine
