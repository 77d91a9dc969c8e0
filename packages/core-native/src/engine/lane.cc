#include "engine/lane.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/thread.h"
#include "engine/statistics/error_log.h"
#include "engine/statistics/refusal_notice.h"

namespace httpsys::engine {

Lane::Lane(size_t index, const http1::MethodTable* methods, uint64_t member_id,
           PortStatistics* statistics, std::function<void(uint16_t port)> on_doubt,
           files::ReadAhead* ahead, ForeignArenas* arenas)
    : index_(index),
      methods_(methods),
      member_id_(member_id),
      statistics_(statistics),
      on_doubt_(std::move(on_doubt)),
      ahead_(ahead),
      arenas_(arenas) {}

Lane::~Lane() { Stop(); }

Attachment* Lane::Attach(const LaneMemory& memory, ConsumerSignal* signal) {
  return attachments_.Add(std::make_unique<Attachment>(ControlBlock(memory.control),
                                                       memory.segments, signal, pool_,
                                                       queue_.orders(), memory.queue_bytes_max));
}

int Lane::Start(Acceptor* lender) {
  if (const int failed = uv_loop_init(&loop_); failed != 0) return failed;
  uv_async_init(&loop_, &wake_,
                [](uv_async_t* handle) { static_cast<Lane*>(handle->data)->OnWake(); });
  uv_prepare_init(&loop_, &prepare_);
  uv_check_init(&loop_, &check_);
  uv_timer_init(&loop_, &peek_timer_);
  uv_timer_init(&loop_, &log_timer_);
  wake_.data = prepare_.data = check_.data = peek_timer_.data = this;
  uv_prepare_start(&prepare_,
                   [](uv_prepare_t* handle) { static_cast<Lane*>(handle->data)->BeforePoll(); });
  uv_check_start(&check_,
                 [](uv_check_t* handle) { static_cast<Lane*>(handle->data)->AfterPoll(); });
  const FileOutput::Post post = [this](std::function<void()> run) {
    queue_.Add(std::move(run), CommandQueue::Kind::kUnordered);
    Wake();
  };
  parts_ = std::make_unique<LaneParts>(LaneParts::Wanted{
      &loop_, &attachments_, this, &load_, &pool_, methods_, member_id_, statistics_, &on_doubt_,
      ahead_, &post, &ProcessCache::Instance(), &Compressor::Instance(), arenas_});
  commands_ = std::make_unique<LaneCommands>(&queue_, &attachments_, parts_.get(), statistics_,
                                             &load_, [this] { Wake(); });
  if (lender != nullptr) {
    accept_watch_ = std::make_unique<AcceptWatch>(
        lender,
        [this](uint32_t server_id, const std::vector<int>& fds) {
          commands_->AdoptLater(server_id, fds);
        },
        [this] { OnWake(); });
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

void Lane::Stop() {
  if (!is_started_) return;
  is_started_ = false;
  commands_->Stop([this] { CloseHandles(); });
  uv_thread_join(&thread_);
  uv_loop_close(&loop_);
}

void Lane::Main(void* argument) {
  auto* self = static_cast<Lane*>(argument);
  SetThreadName(("httpsys-io-" + std::to_string(self->index_)).c_str());
  uv_run(&self->loop_, UV_RUN_DEFAULT);
}

void Lane::CloseHandles() {
  WakeUp();
  parts_->Close();
  if (accept_watch_ != nullptr) accept_watch_->Close();
  if (parts_->answers->TakeUntold()) ArmLogTimer();
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&log_timer_)) != 0) {
    ErrorLog::Instance().WriteDropped(true);
    // If the last line is too recent, Tell() writes none; another lane, or the end of the process,
    // writes it later.
    RefusalNotice::Instance().Tell(false);
  }
  for (uv_handle_t* handle :
       {reinterpret_cast<uv_handle_t*>(&wake_), reinterpret_cast<uv_handle_t*>(&prepare_),
        reinterpret_cast<uv_handle_t*>(&check_), reinterpret_cast<uv_handle_t*>(&peek_timer_),
        reinterpret_cast<uv_handle_t*>(&log_timer_)}) {
    uv_close(handle, nullptr);
  }
}

// -- The iteration of the loop.

void Lane::BeforePoll() {
  parts_->clock.BeginPass();
  parts_->expiry->BeginPass();
  parts_->patience.BeginPass(uv_now(&loop_));
  for (const auto& one : attachments_) one->records().BeginPass();
  parts_->expiry->RefuseOverdue(uv_now(&loop_));
  parts_->reclaim->Run();
  // Publish the requests that were read before executing JavaScript's replies. So if a client ends
  // its connection while JavaScript moves it to another server of this process, JavaScript learns
  // of the end first, as it would if all ran on one thread.
  PublishRecords();
  int naps = 0;
  for (int pass = 1;; ++pass) {
    commands_->RunOrders();
    parts_->router->choice().BeginPass();
    if (parts_->processor->Run(&touched_)) {
      peek_ms_ = 0;
      ResumeTouched();
    }
    WaitingRequests& waiting = parts_->router->waiting();
    if (waiting.has_due() || (waiting.has_waiting() && !attachments_.HasUnread())) waiting.Retry();
    FlushAll();
    PublishRecords();
    const bool may_wait =
        naps < limits::kNapsPerPoll && attachments_.HasUnread() && !commands_->has_drains();
    // Yield while still marked as awake: if JavaScript runs now, it need not wake the lane.
    if (may_wait) GiveWay();
    FallAsleep();
    bool is_called = false;
    if (may_wait) {
      ++naps;
      is_called = nap_.Take();
      parts_->reclaim->Look();
    }
    // A call to wake(lane) clears kLaneSleeping, so the lane must set it again before the poll.
    // Requests that were read while records were published may have been answered by the lane.
    const bool has_news = is_called || parts_->router->choice().HasBegun() ||
                          attachments_.HasDueReceivers() || parts_->output->has_touched();
    const bool looks_on = may_wait || commands_->has_drains();
    if (!has_news && (looks_on ? !attachments_.HasReplies() : attachments_.MayGatherReplies()))
      break;
    WakeUp();
    if (pass == limits::kPassesPerPoll) {
      Wake();
      break;
    }
  }
  // Before the lane waits, send the TLS tickets that no answer has taken along.
  if (parts_->handshakes->SendTickets()) SendLate();
  // Yield before polling: other processes that wait for this CPU will have produced more input to
  // read at once.
  GiveWay();
  if (commands_->OpenEarly()) SendLate();
  commands_->AnswerDrains();
  parts_->transport->watch()->LookAtOverdue();
  if (parts_->answers->TakeUntold()) ArmLogTimer();
  ArmPeekTimer();
}

void Lane::GiveWay() {
  parts_->patience.GiveWay();
  parts_->reclaim->Look();
}

void Lane::AfterPoll() {
  WakeUp();
  // Flush before closed connections are freed: the list of touched connections must not name a
  // freed one.
  FlushAndResume();
  for (const auto& one : attachments_) one->receiving().EndTurns();
  parts_->transport->FreeClosed();
}

void Lane::OnWake() {
  WakeUp();
  commands_->RunAll();
}

void Lane::SendLate() {
  FlushAll();
  PublishRecords();
  if (attachments_.HasDueReceivers() || parts_->output->has_touched()) Wake();
}

// Sends output and resumes input until nothing is touched. Resumed input may cause more output. The
// loop ends, because each round handles bytes that were already read.
void Lane::FlushAndResume() {
  while (parts_->output->has_touched()) {
    parts_->output->FlushTouched(&touched_);
    ResumeTouched();
  }
}

// Sends all output, also to other members, until nothing is touched: relays that have sent may take
// more input.
void Lane::FlushAll() {
  do {
    FlushAndResume();
    parts_->router->FlushPeers();
  } while (parts_->output->has_touched());
}

void Lane::ResumeTouched() {
  parts_->exchanges->ResumeWanted(touched_, [this](Connection* connection, PauseReason reason) {
    parts_->input->Resume(connection, reason);
  });
  touched_.clear();
}

void Lane::OnReadable(Connection* connection) {
  WakeUp();
  commands_->RunConfigs();
  if (!connection->is_open()) return;
  if (connection->phase() == InputPhase::kHandshake && !parts_->handshakes->OnReadable(connection))
    return;
  parts_->input->OnReadable(connection);
}

void Lane::OnTimeout(Connection* connection) {
  WakeUp();
  if (connection->phase() == InputPhase::kHandshake)
    return parts_->handshakes->OnTimeout(connection);
  if (parts_->input->EndLeft(connection)) return;
  parts_->protocols.Of(connection->phase())->OnTimeout(connection);
}

void Lane::OnDisconnect(Connection* connection) {
  WakeUp();
  parts_->input->OnDisconnect(connection);
}

void Lane::OnTooSlow(Connection* connection) {
  WakeUp();
  parts_->http1->OnTooSlow(connection);
}

void Lane::OnOutputEnding(Connection* connection) { parts_->router->OnOutputEnding(connection); }

void Lane::OnAnnounced(Connection* connection) { parts_->router->OnAnnounced(connection); }

void Lane::OnDetached(Connection* connection) {
  parts_->input->OnDetached(connection);
  if (connection->input.waits_for_blocks())
    connection->attachment().receiving().OnDetached(connection);
  connection->attachment().waiting().Remove(connection);
  parts_->handshakes->OnDetached(connection);
  parts_->router->OnDetached(connection);
  parts_->statics->OnDetached(connection);
  parts_->waiting_misses->OnDetached(connection);
  parts_->captures->OnDetached(connection);
  parts_->refreshes->OnDetached(connection);
}

void Lane::FallAsleep() {
  is_sleeping_ = true;
  for (const auto& one : attachments_) one->TellSleeping(true);
}

void Lane::WakeUp() {
  if (!is_sleeping_) return;
  is_sleeping_ = false;
  for (const auto& one : attachments_) one->TellSleeping(false);
}

void Lane::Wake() {
  uv_async_send(&wake_);
  nap_.End();
}

void Lane::WakeIfSleeping(Attachment* attachment) {
  if (!attachment->TakeSleeping()) return;
  if (!nap_.End()) uv_async_send(&wake_);
}

// Starts the timer by which the lane looks for replies. JavaScript may publish replies without a
// wake while it works on this lane's records, and in a turn of its event loop in which it has woken
// the lane already. Otherwise the timer is stopped.
void Lane::ArmPeekTimer() {
  const bool is_turn_open = attachments_.IsTurnOpen();
  if (!attachments_.HasUnread() && !attachments_.IsDraining() && !is_turn_open) {
    peek_ms_ = 0;
    uv_timer_stop(&peek_timer_);
    return;
  }
  const bool is_armed = uv_is_active(reinterpret_cast<uv_handle_t*>(&peek_timer_)) != 0;
  if (is_armed && (!is_turn_open || peek_ms_ == limits::kPeekMs)) return;
  const uint64_t next_ms = peek_ms_ == 0 ? limits::kPeekMs : peek_ms_ * 2;
  if (is_turn_open) {
    peek_ms_ = limits::kPeekMs;
  } else if (attachments_.IsDraining()) {
    peek_ms_ = std::min(next_ms, limits::kPeekMsMax);
  } else {
    peek_ms_ = nap_.is_useless() ? limits::kPeekIdleMsMax
                                 : std::clamp(next_ms, limits::kPeekMsMax, limits::kPeekIdleMsMax);
  }
  // The callback is empty: BeforePoll() follows and looks for replies.
  uv_timer_start(&peek_timer_, [](uv_timer_t*) {}, peek_ms_, 0);
}

// Starts the timer that writes how many requests were refused, and how many lines the log has left
// out, even if no further request is refused.
void Lane::ArmLogTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&log_timer_)) != 0) return;
  const auto say = [](uv_timer_t* timer) {
    const bool is_log_complete = ErrorLog::Instance().WriteDropped(false);
    const bool is_told = RefusalNotice::Instance().Tell(false);
    if (is_log_complete && is_told) uv_timer_stop(timer);
  };
  uv_timer_start(&log_timer_, say, limits::kLogDroppedMs, limits::kLogDroppedRetryMs);
}

}  // namespace httpsys::engine
