#pragma once
// The JavaScript thread's end of the request queues.

#include <napi.h>
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "napi/host_backend.h"

namespace httpsys {

// Wakes the JavaScript thread for new records, and calls `dispatch` (types/binding.d.ts) with them.
// Thread: JavaScript, except for wake().
class RecordDispatch {
 public:
  struct Owner {
    // The backend; nullptr while there is none. JavaScript may close it in any call.
    const std::unique_ptr<HostBackend>* backend;
    // Called after each batch of records, unless the backend was closed.
    std::function<void()> on_batch;
    // Called when the environment ends: at worker.terminate(), at process.exit() in a worker, or at
    // the natural end of a thread. Must call Close().
    std::function<void()> on_end;
  };

  explicit RecordDispatch(Owner owner) : owner_(std::move(owner)) {}
  RecordDispatch& operator=(RecordDispatch&&) = delete;

  // `controls` are the control blocks of the lanes. Returns false if the event loop cannot be
  // watched; Close() must also be called then.
  bool Open(Napi::Env env, Napi::Function dispatch, std::vector<int32_t*> controls);
  // Returns a function that wakes the JavaScript thread. It may be called on any thread until
  // Close().
  std::function<void()> wake() const;
  // Stops watching the event loop, and releases the handles. Idempotent.
  void Close();

  // Must be called when JavaScript has written a reply for the lane in this turn of the event loop
  // and has set kTurnOpen.
  void OpenTurn(size_t lane);

  // Make new records keep the event loop alive, or not. At first they do not.
  void Ref();
  void Unref();

 private:
  enum class Dispatched : uint8_t { kAll, kSome, kStop };

  // The handles outlive the object: this is freed after the loop has closed both handles.
  struct Wakeup {
    uv_async_t async;
    uv_prepare_t turn_end;  // Runs while a turn is open, and does not keep the loop alive.
    int handles = 2;
    RecordDispatch* dispatch = nullptr;
    napi_async_cleanup_hook_handle cleanup = nullptr;
  };

  static void OnEnvironmentEnd(napi_async_cleanup_hook_handle handle, void* argument);
  HostBackend* backend() const { return owner_.backend->get(); }
  void OnWake();
  void EndTurns();
  // Returns true if records are left and the event loop must run first.
  bool DrainRecords();
  Dispatched DispatchRegion(size_t lane, const RequestQueue::Region& region);
  // Consumes the records up to `reached`, and wakes the lane for the replies to them.
  void EndBatch(size_t lane, uint32_t reached);

  const Owner owner_;
  Wakeup* wakeup_ = nullptr;
  bool is_draining_ = false;
  Napi::FunctionReference dispatch_;
  std::vector<int32_t*> controls_;
  size_t next_lane_ = 0;  // The lane that is looked at next.
  // For each lane: the value of kReplyPublished when OpenTurn() woke it.
  std::vector<uint32_t> seen_;
};

}  // namespace httpsys
