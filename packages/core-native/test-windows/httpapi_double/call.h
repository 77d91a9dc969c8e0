#pragma once

#include <functional>
#include <mutex>

#include "model.h"

namespace httpapi_double {

// A call of the API that may complete later: through the completion port of its
// queue handle, the event of its OVERLAPPED, or (without an OVERLAPPED) by
// returning. Thread: with the kernel's lock.
class Call : public std::enable_shared_from_this<Call> {
 public:
  // `bytes` is the caller's variable, or nullptr.
  Call(HandleRef handle, OVERLAPPED* overlapped, ULONG* bytes);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Ends it. What it was to fill has been filled. Later ones do nothing.
  void Finish(uint32_t error, uint32_t bytes = 0);
  bool is_finished() const { return is_finished_; }
  // CancelIoEx() or the end of its handle; what is undone by that.
  void Cancel();
  void set_on_cancel(std::function<void()> undo) { on_cancel_ = std::move(undo); }
  const HandleRef& handle() const { return handle_; }
  const OVERLAPPED* overlapped() const { return overlapped_; }

  // What the API function returns. Waits for the end of a synchronous call.
  ULONG Return(std::unique_lock<std::mutex>& lock);

 private:
  void Complete();

  const HandleRef handle_;
  OVERLAPPED* const overlapped_;
  ULONG* const bytes_out_;
  std::function<void()> on_cancel_;
  bool is_finished_ = false;
  bool is_pending_ = false;  // The function has returned ERROR_IO_PENDING.
  uint32_t error_ = 0;
  uint32_t bytes_ = 0;
};

}  // namespace httpapi_double
