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

// Makes the lane's parts in order, from those that read and write sockets to those that speak
// protocols.
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
  // JavaScript hears of the requests that were read before the lane executes its replies. So if a
  // client ends its connection while JavaScript moves it to another server of this process,
  // JavaScript hears of the end first, as on one thread.
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
    // The lane stays awake here, so that JavaScript need not wake it if JavaScript gets its turn
    // now.
    if (may_wait && router_->has_peers()) GiveWay();
    FallAsleep();
    bool is_called = false;
    if (may_wait) {
      has_waited = true;
      is_called = !replies_.HasMore() && !nap_backoff_.Skip() && Nap();
    }
    // A call to wake(lane) clears kLaneSleeping, so the lane must set it again before the poll.
    if (!is_called && !replies_.HasMore()) break;
    WakeUp();
    if (pass == limits::kPassesPerPoll) {
      Wake();
      break;
    }
  }
  // There is more to read after other members that wait for this CPU have worked.
  if (router_->has_peers()) GiveWay();
  TakeEarly();
  if (!drains_.empty()) AnswerDrains();
  transport_->watch()->LookAtOverdue();
  if (answers_->TakeDroppedLines()) ArmLogTimer();
  ArmPeekTimer();
}

void Lane::AfterPoll() {
  WakeUp();
  // The flush comes before closed connections are freed, because none of them may stay in the list
  // of touched ones.
  FlushAndResume();
  transport_->FreeClosed();
}

// Sends output and resumes input until nothing is touched. Resumed input may cause more output. The
// loop ends, because each round handles bytes that were already read.
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

// Waits until JavaScript has finished its batch, at most limits::kNapUs. While JavaScript works on
// a batch, a new request would only wait behind it, and replies are about to come: it costs less to
// read sockets together and to send replies together than one by one. Returns true if JavaScript
// ended the nap.
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

// Returns false if the lane was not napping.
bool Lane::EndNap() {
  {
    const std::lock_guard lock(nap_mutex_);
    if (!is_napping_) return false;
    is_napping_ = false;
  }
  nap_over_.notify_one();
  return true;
}

// Publishes requests. Waking JavaScript costs more than all its work for the begin or end of a
// connection, so such records may wait for others.
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
  // An urgent record takes along the records that may wait.
  uv_timer_stop(&late_timer_);
  router_->OnPublishing();
  if (queue_.Publish()) signal_->Raise();
  // A stall may begin and end between two calls, so the question is whether a connection was
  // paused.
  while (!queue_.stalled() && input_->TakeStalled()) {
    transport_->ForEach([this](Connection* connection) {
      if (connection->is_open() && (connection->watch.pauses() & kPauseMemory) != 0) {
        input_->Resume(connection, kPauseMemory);
      }
    });
    if (queue_.Publish()) signal_->Raise();
  }
}

// Starts the timer by which the lane looks for replies. JavaScript may publish replies without a
// wake while it works on this lane's records. Without such records there is nothing to look for.
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

// Starts the timer that logs how many lines were left out, even if no further line comes.
void Lane::ArmLogTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&log_timer_)) != 0) return;
  const auto say = [](uv_timer_t* timer) {
    if (ErrorLog::Instance().WriteDropped(false)) uv_timer_stop(timer);
  };
  uv_timer_start(&log_timer_, say, limits::kLogDroppedMs, limits::kLogDroppedRetryMs);
}

}  // namespace httpsys::engine
