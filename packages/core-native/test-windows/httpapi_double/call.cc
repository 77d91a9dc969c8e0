#include "call.h"

#include "kernel.h"
#include "queue_handle.h"

namespace httpapi_double {
namespace {

// As the I/O manager has them: HRESULTs of system errors are NTSTATUS values
// that map back.
uint32_t StatusOf(uint32_t error) { return error == NO_ERROR ? 0 : 0x80070000u | error; }

}  // namespace

Call::Call(HandleRef handle, OVERLAPPED* overlapped, ULONG* bytes)
    : handle_(std::move(handle)), overlapped_(overlapped), bytes_out_(bytes) {}

void Call::Finish(uint32_t error, uint32_t bytes) {
  if (is_finished_) return;
  is_finished_ = true;
  on_cancel_ = nullptr;
  error_ = error;
  bytes_ = bytes;
  if (is_pending_) Complete();
  if (overlapped_ == nullptr) Kernel::Get().finished.notify_all();
}

void Call::Cancel() {
  if (is_finished_) return;
  const std::function<void()> undo = std::move(on_cancel_);
  Finish(ERROR_OPERATION_ABORTED);
  if (undo) undo();
}

ULONG Call::Return(std::unique_lock<std::mutex>& lock) {
  Kernel& kernel = Kernel::Get();
  if (overlapped_ == nullptr) {
    handle_->AddPending(shared_from_this());
    kernel.finished.wait(lock, [this] { return is_finished_; });
    handle_->RemovePending(this);
    if (bytes_out_ != nullptr) *bytes_out_ = bytes_;
    return error_;
  }
  overlapped_->Internal = STATUS_PENDING;
  if (overlapped_->hEvent != nullptr) ResetEvent(overlapped_->hEvent);
  const bool is_done = is_finished_ && kernel.slow_ms() == 0;
  // A success is told twice unless the application asked for it once.
  if (!is_done || (error_ == NO_ERROR && !handle_->skips_port_on_success())) {
    is_pending_ = true;
    handle_->AddPending(shared_from_this());
    if (is_finished_) Complete();
  }
  if (!is_done) return ERROR_IO_PENDING;
  overlapped_->Internal = StatusOf(error_);
  overlapped_->InternalHigh = bytes_;
  if (bytes_out_ != nullptr) *bytes_out_ = bytes_;
  return error_;
}

void Call::Complete() {
  Kernel& kernel = Kernel::Get();
  kernel.After(kernel.slow_ms(), [call = shared_from_this()] {
    call->overlapped_->Internal = StatusOf(call->error_);
    call->overlapped_->InternalHigh = call->bytes_;
    call->handle_->RemovePending(call.get());
    call->handle_->Post(call->overlapped_, StatusOf(call->error_), call->bytes_);
  });
}

}  // namespace httpapi_double
