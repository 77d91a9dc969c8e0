#include "win/lane.h"

#include <uv.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/limits.h"

namespace httpsys::win {
namespace {

// Maximum number of completions that are handled before JavaScript gets their records.
constexpr int kCompletionsPerTurn = 64;
// Longest sleep of the thread if no timer is due earlier.
constexpr uint32_t kSleepMs = 60'000;
// Pause after the kernel has refused to deliver requests.
constexpr uint32_t kRefusedMs = 100;
// Longest time that cancelled calls may take to complete before their queue is closed.
constexpr uint64_t kCancelMs = 1000;
constexpr uint32_t kCancelPollMs = 50;

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

}  // namespace

Lane::Lane(CompletionPort* port, const LaneMemory& memory, const http1::MethodTable* methods,
           ConsumerSignal* signal)
    : port_(port),
      signal_(signal),
      control_(memory.control),
      queue_(memory.segments),
      replies_(control_),
      records_(&queue_, uv_hrtime()),
      session_(methods, &queue_, &records_, &lent_, IsCoreOnly()),
      handler_(&replies_, &lent_, &files_, &records_, &session_) {}

Lane::~Lane() { Stop(); }

void Lane::Start() {
  thread_ = std::thread([this] { Main(); });
}

void Lane::Stop() {
  if (!thread_.joinable()) return;
  Post([this] { is_stopping_ = true; });
  thread_.join();
}

// -- From other threads.

void Lane::Wake() { port_->Wake(); }

void Lane::WakeIfSleeping() {
  if (control_[records::kLaneSleeping].exchange(0, std::memory_order_seq_cst) == 1) Wake();
}

void Lane::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  Wake();
}

void Lane::SetServer(uint32_t server_id, ServerSettings settings) {
  Post([this, server_id, settings = std::move(settings)] {
    session_.SetServer(server_id, settings);
  });
}

void Lane::AddQueue(std::shared_ptr<KernelQueue> queue, uint32_t server_id) {
  Post([this, queue = std::move(queue), server_id] {
    receivers_.push_back(std::make_unique<Receiver>(
        queue, server_id, [this](const Receiver& receiver, const HTTP_REQUEST& request) {
          session_.OnRequest(receiver.queue(), receiver.server_id(), request);
          return !queue_.stalled();
        }));
  });
}

void Lane::RemoveQueue(const KernelQueue* queue) {
  Post([this, queue] {
    for (const auto& receiver : receivers_) {
      if (receiver->queue().get() == queue) receiver->Stop();
    }
  });
}

bool Lane::IsQuiet() const {
  return session_.calls() == 0 && std::all_of(receivers_.begin(), receivers_.end(),
                                              [](const auto& other) { return other->IsQuiet(); });
}

void Lane::Unlisten(uint32_t server_id) {
  Post([this, server_id] { session_.Unlisten(server_id); });
}

bool Lane::Drain(uint64_t timeout_ms, DrainGoal goal) {
  if (!thread_.joinable()) return true;
  const auto barrier = std::make_shared<Barrier>(Barrier{goal});
  Post([this, barrier] { barriers_.push_back(barrier); });
  std::unique_lock lock(mutex_);
  return reached_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [&] { return barrier->is_reached; });
}

// -- The thread.

void Lane::Main() {
  for (;;) {
    Turn();
    if (is_stopping_) break;
    CompletionPort::Completion completion;
    if (!port_->Wait(WaitMs(), &completion)) continue;
    control_[records::kLaneSleeping].store(0, std::memory_order_seq_cst);
    int handled = 0;
    do {
      Complete(completion);
    } while (++handled < kCompletionsPerTurn && port_->Wait(0, &completion));
  }
  CancelEverything();
}

void Lane::Turn() {
  control_[records::kLaneSleeping].store(0, std::memory_order_seq_cst);
  records_.BeginPass();
  RunPosted();
  session_.RunTimers();
  HandleReplies();
  StartReceives();
  session_.Flush();
  Publish();
  if (!barriers_.empty()) AnswerDrains();
}

void Lane::RunPosted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const auto& task : tasks) task();
}

void Lane::HandleReplies() {
  for (int pass = 0; pass < limits::kPassesPerPoll; ++pass) {
    if (!handler_.Run()) return;
    peek_ms_ = 0;
  }
}

void Lane::Publish() {
  if (queue_.Publish()) signal_->Raise();
  if (queue_.stalled()) {
    was_stalled_ = true;
  } else if (std::exchange(was_stalled_, false)) {
    session_.Resume();
    StartReceives();
    session_.Flush();
    if (queue_.Publish()) signal_->Raise();
  }
}

void Lane::AnswerDrains() {
  if (replies_.HasMore()) return;
  const bool is_sent = session_.IsSent();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(barriers_, [&](const std::shared_ptr<Barrier>& barrier) {
      if (barrier->goal == DrainGoal::kSent && !is_sent) return false;
      barrier->is_reached = true;
      return true;
    });
  }
  reached_.notify_all();
}

// Announces the lane's sleep to other threads, and returns its length; 0 if there is work.
uint32_t Lane::WaitMs() {
  if (queue_.HasUnread() || signal_->is_draining()) {
    // Look again soon: JavaScript may publish replies without waking the lane while it works.
    peek_ms_ =
        peek_ms_ == 0 ? limits::kPeekMs : std::min<uint32_t>(peek_ms_ * 2, limits::kPeekMsMax);
  } else {
    peek_ms_ = 0;
  }
  const bool is_refused = std::any_of(receivers_.begin(), receivers_.end(),
                                      [](const auto& other) { return other->is_refused(); });
  const uint32_t most = peek_ms_ != 0 ? peek_ms_ : is_refused ? kRefusedMs : kSleepMs;
  control_[records::kLaneSleeping].store(1, std::memory_order_seq_cst);
  const std::lock_guard lock(mutex_);
  return replies_.HasMore() || !posted_.empty() ? 0 : session_.TimeoutMs(most);
}

// -- Calls.

void Lane::Complete(const CompletionPort::Completion& completion) {
  if (completion.operation == nullptr) return;  // Wake() was called; no call has completed.
  if (completion.operation->kind != OperationKind::kReceive) {
    session_.OnCompletion(completion.operation, completion.result);
    return;
  }
  // Run commands first: the one that adds a server may arrive together with its first request.
  RunPosted();
  Receiver::Of(completion.operation)->OnCompletion(completion.operation, completion.result);
}

void Lane::StartReceives() {
  for (const auto& receiver : receivers_) {
    if (!is_stopping_ && !queue_.stalled()) receiver->Start();
  }
  std::erase_if(receivers_, [](const auto& other) {
    return other->is_stopped() && other->IsQuiet() && other->queue().use_count() == 1;
  });
}

// -- The end.

void Lane::CancelEverything() {
  control_[records::kLaneSleeping].store(0, std::memory_order_seq_cst);
  for (const auto& receiver : receivers_) {
    receiver->queue()->Shutdown();
    receiver->queue()->CancelAll();
  }
  uint64_t deadline = NowMs() + kCancelMs;
  bool is_closed = false;
  while (!IsQuiet()) {
    CompletionPort::Completion completion;
    if (port_->Wait(kCancelPollMs, &completion)) Complete(completion);
    if (NowMs() < deadline) continue;
    if (is_closed) break;
    for (const auto& receiver : receivers_) receiver->queue()->Close();
    is_closed = true;
    deadline += kCancelMs;
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& barrier : barriers_) barrier->is_reached = true;
  }
  reached_.notify_all();
}

}  // namespace httpsys::win
