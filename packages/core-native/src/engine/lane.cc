#include "engine/lane.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/patience.h"
#include "base/signals_blocked.h"
#include "base/thread_name.h"
#include "engine/statistics/error_log.h"

namespace httpsys::engine {
namespace {

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Lane::Lane(size_t index, const LaneMemory& memory, const http1::MethodTable* methods,
           ConsumerSignal* signal, uint64_t member_id, PortStatistics* statistics,
           std::function<void(uint16_t port)> on_doubt)
    : index_(index),
      control_(memory.control),
      signal_(signal),
      queue_(memory.segments),
      replies_(control_, &has_orders_),
      refused_(&control_[records::kRequestsRefused]),
      records_(&queue_, RandomSeed()),
      methods_(methods),
      member_id_(member_id),
      statistics_(statistics),
      on_doubt_(std::move(on_doubt)) {
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
  MakeSessions();
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
  is_started_ = true;
  return 0;
}

// From what reads and writes sockets to what speaks protocols on them.
void Lane::MakeSessions() {
  transport_ = std::make_unique<Transport>(&loop_, &records_, &lent_, &load_);
  output_ = transport_->output();
  answers_ = std::make_unique<NativeAnswers>(methods_, output_);
  input_ = std::make_unique<Input>(&queue_, transport_.get(), &protocols_, answers_.get());
  router_ = std::make_unique<PortRouter>(&loop_, member_id_, methods_, &queue_, &servers_,
                                         statistics_, transport_.get(), input_.get(), on_doubt_);
  handshakes_ = std::make_unique<TlsHandshakes>(&records_, transport_.get(), router_.get());
  gate_ = std::make_unique<RequestGate>(methods_, &queue_, transport_.get(), &refused_,
                                        answers_.get(), &clock_);
  exchanges_ = std::make_unique<Exchanges>(transport_.get(), router_.get());
  websockets_ = std::make_unique<WebSocketSession>(&loop_, &lent_, queue_.block_pool().get(),
                                                   &records_, transport_.get(), input_.get());
  opaque_ = std::make_unique<OpaqueSession>(&records_, transport_.get(), input_.get());
  http2_ =
      std::make_unique<Http2Session>(&loop_, methods_, &queue_, &lent_, &records_, transport_.get(),
                                     input_.get(), router_.get(), gate_.get(), answers_.get());
  http1_ = std::make_unique<Http1Session>(methods_, &queue_, &lent_, &records_, transport_.get(),
                                          input_.get(), router_.get(), http2_.get(), gate_.get(),
                                          answers_.get(), exchanges_.get(), &clock_);
  relay_input_ = std::make_unique<RelayInput>(methods_, transport_.get(), input_.get(),
                                              router_.get(), exchanges_.get(), answers_.get(),
                                              http1_->writer(), http1_.get());
  for (const InputPhase phase :
       {InputPhase::kHead, InputPhase::kBodyLength, InputPhase::kBodyChunked,
        InputPhase::kSkipLength, InputPhase::kSkipChunked, InputPhase::kAwaitUpgrade,
        InputPhase::kAfterClose, InputPhase::kRefused, InputPhase::kOver}) {
    protocols_.Set(phase, http1_.get());
  }
  for (const InputPhase phase : {InputPhase::kRelayLength, InputPhase::kRelayChunked,
                                 InputPhase::kRelayUpgrade, InputPhase::kRelayOpaque}) {
    protocols_.Set(phase, relay_input_.get());
  }
  protocols_.Set(InputPhase::kUndecided, opaque_.get());
  protocols_.Set(InputPhase::kOpaque, opaque_.get());
  protocols_.Set(InputPhase::kWebSocket, websockets_.get());
  protocols_.Set(InputPhase::kHttp2, http2_.get());
  gate_->set_writers(http1_->writer(), http2_->writer());
  router_->Start(exchanges_.get(), relay_input_.get(), http2_->relayed());
  processor_ =
      std::make_unique<ReplyProcessor>(&replies_, &lent_, &records_, transport_.get(), &protocols_,
                                       http1_.get(), http2_.get(), websockets_.get());
  transport_->set_stream_handler(http2_.get());
  transport_->set_input_handler(this);
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
  SetThreadName(("httpsys-io-" + std::to_string(self->index_)).c_str());
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
  clock_.BeginPass();
  gate_->BeginPass();
  records_.BeginPass();
  gate_->RefuseOverdue(uv_now(&loop_));
  // What was read before is told before what JavaScript wants is done: a client that says goodbye
  // and loses its connection to another server of this process is heard first, as on one thread.
  PublishRequests();
  bool has_waited = false;
  for (int pass = 1;; ++pass) {
    if (has_orders_.load(std::memory_order_acquire)) RunOrders();
    if (processor_->Run(&touched_)) {
      peek_ms_ = 0;
      ResumeTouched();
    }
    if (router_->waiting().has_waiting() && !queue_.HasUnread()) router_->waiting().Retry();
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
  transport_->watch()->LookAtOverdue();
  if (answers_->TakeDroppedLines()) ArmLogTimer();
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
  while (output_->has_touched()) {
    output_->FlushTouched(&touched_);
    ResumeTouched();
  }
}

void Lane::ResumeTouched() {
  exchanges_->ResumeWanted(touched_, [this](Connection* connection, PauseReason reason) {
    input_->Resume(connection, reason);
  });
  touched_.clear();
}

void Lane::OnReadable(Connection* connection) {
  WakeUp();
  if (has_config_.load(std::memory_order_acquire)) RunConfigs();
  if (connection->phase() == InputPhase::kHandshake && !handshakes_->OnReadable(connection)) return;
  input_->OnReadable(connection);
}

void Lane::OnTimeout(Connection* connection) {
  WakeUp();
  if (connection->phase() == InputPhase::kHandshake) return handshakes_->OnTimeout(connection);
  protocols_.Of(connection->phase())->OnTimeout(connection);
}

void Lane::OnDisconnect(Connection* connection) {
  WakeUp();
  input_->OnDisconnect(connection);
}

void Lane::OnTooSlow(Connection* connection) {
  WakeUp();
  http1_->OnTooSlow(connection);
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
  while (!queue_.stalled() && input_->TakeStalled()) {
    transport_->ForEach([this](Connection* connection) {
      if (connection->is_open() && (connection->watch.pauses() & kPauseMemory) != 0) {
        input_->Resume(connection, kPauseMemory);
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

}  // namespace httpsys::engine
