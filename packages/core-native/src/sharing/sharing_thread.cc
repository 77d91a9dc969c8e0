#include "sharing/sharing_thread.h"

#include <utility>

#include "base/limits.h"
#include "base/process.h"
#include "base/thread.h"

namespace httpsys::sharing {
namespace {

// Time between two checks of deadlines, while there are any.
constexpr uint64_t kTickMs = 10;

// The SharingThread that a thread runs.
struct Running {
  const SharingThread* thread = nullptr;
};

SharingThread::Owner* OwnerOf(uv_timer_t* timer) {
  return static_cast<SharingThread::Owner*>(timer->data);
}

void StartOnce(uv_timer_t* timer, uv_timer_cb callback, uint64_t delay_ms) {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(timer)) != 0) return;
  uv_timer_start(timer, callback, delay_ms, 0);
}

}  // namespace

bool SharingThread::Post(std::function<void()> command) {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return false;
  if (!is_running_ && !Start()) return false;
  commands_.push_back(std::move(command));
  uv_async_send(&wake_);
  return true;
}

bool SharingThread::PostIfRunning(std::function<void()> command) {
  const std::lock_guard lock(mutex_);
  if (is_stopping_ || !is_running_) return false;
  commands_.push_back(std::move(command));
  uv_async_send(&wake_);
  return true;
}

bool SharingThread::Start() {
  if (uv_loop_init(&loop_) != 0) return false;
  uv_async_init(&loop_, &wake_,
                [](uv_async_t* wake) { static_cast<SharingThread*>(wake->data)->RunCommands(); });
  uv_timer_init(&loop_, &ticks_);
  uv_timer_init(&loop_, &keys_);
  wake_.data = this;
  ticks_.data = keys_.data = owner_;
  {
    const SignalsBlocked blocked;
    is_running_ = uv_thread_create(&thread_, Main, this) == 0;
  }
  if (is_running_) return true;
  CloseHandles();
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
  return false;
}

void SharingThread::CloseHandles() {
  uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&ticks_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&keys_), nullptr);
}

void SharingThread::Main(void* argument) {
  SetThreadName("httpsys-share");
  auto* self = static_cast<SharingThread*>(argument);
  OfThread<Running>().thread = self;
  uv_run(&self->loop_, UV_RUN_DEFAULT);
}

bool SharingThread::IsCurrent() const { return OfThread<Running>().thread == this; }

void SharingThread::RunCommands() {
  std::vector<std::function<void()>> commands;
  bool is_stopping;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
    is_stopping = is_stopping_;
  }
  for (const auto& command : commands) command();
  if (!is_stopping) return owner_->AfterCommands();
  owner_->BeforeEnd();
  CloseHandles();
}

void SharingThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    if (!is_running_) return;
    // Sent under the lock: the thread cannot have seen is_stopping_ yet, so wake_ is still open.
    uv_async_send(&wake_);
  }
  uv_thread_join(&thread_);
  uv_loop_close(&loop_);
}

void SharingThread::TickSoon() {
  StartOnce(&ticks_, [](uv_timer_t* timer) { OwnerOf(timer)->Tick(); }, kTickMs);
}

void SharingThread::TellKeysLater() {
  StartOnce(
      &keys_, [](uv_timer_t* timer) { OwnerOf(timer)->TellTicketKeys(); }, limits::kTicketTellMs);
}

}  // namespace httpsys::sharing
