#pragma once

#include <vector>

#include "model.h"

namespace httpapi_double {

// A handle of a request queue: what HttpCreateRequestQueue() gave to one
// caller. Thread: with the kernel's lock.
class QueueHandle {
 public:
  QueueHandle(QueueRef queue, bool is_controller);
  QueueHandle(const QueueHandle&) = delete;
  QueueHandle& operator=(const QueueHandle&) = delete;
  ~QueueHandle();

  HANDLE value() const { return value_; }
  const QueueRef& queue() const { return queue_; }
  // It created the queue, and takes no requests.
  bool is_controller() const { return is_controller_; }

  // HttpShutdownRequestQueue(): it takes no further requests.
  void ShutDown() { is_shut_down_ = true; }
  bool is_shut_down() const { return is_shut_down_; }

  // CreateIoCompletionPort() with this handle: the port, or nullptr with
  // GetLastError().
  HANDLE Associate(HANDLE port, ULONG_PTR key, DWORD threads);
  void set_modes(UCHAR modes) { modes_ = modes; }
  bool skips_port_on_success() const;

  void AddPending(CallRef call) { pending_.push_back(std::move(call)); }
  void RemovePending(const Call* call);
  size_t pending() const { return pending_.size(); }
  // Those with this OVERLAPPED, or all. False when there were none.
  bool Cancel(const OVERLAPPED* overlapped);
  void Post(OVERLAPPED* overlapped, uint32_t status, uint32_t bytes);

 private:
  const HANDLE value_;
  const QueueRef queue_;
  const bool is_controller_;
  bool is_shut_down_ = false;
  HANDLE port_ = nullptr;  // Its own duplicate.
  ULONG_PTR key_ = 0;
  UCHAR modes_ = 0;
  std::vector<CallRef> pending_;
};

}  // namespace httpapi_double
