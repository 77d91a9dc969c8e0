#include "napi/record_dispatch.h"

#include <utility>

#include "base/limits.h"
#include "records/control_block.h"

namespace httpsys {

bool RecordDispatch::Open(Napi::Env env, Napi::Function dispatch, std::vector<int32_t*> controls) {
  dispatch_ = Napi::Persistent(dispatch);
  controls_ = std::move(controls);
  seen_.resize(controls_.size());
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return false;
  auto wakeup = std::make_unique<Wakeup>();
  const int failed = uv_async_init(loop, &wakeup->async, [](uv_async_t* async) {
    RecordDispatch* dispatch = static_cast<Wakeup*>(async->data)->dispatch;
    if (dispatch != nullptr) dispatch->OnWake();
  });
  if (failed != 0) return false;
  wakeup->async.data = wakeup.get();
  wakeup->dispatch = this;
  uv_unref(reinterpret_cast<uv_handle_t*>(&wakeup->async));
  uv_prepare_init(loop, &wakeup->turn_end);
  wakeup->turn_end.data = wakeup.get();
  uv_unref(reinterpret_cast<uv_handle_t*>(&wakeup->turn_end));
  wakeup_ = wakeup.release();
  return napi_add_async_cleanup_hook(env, OnEnvironmentEnd, wakeup_, &wakeup_->cleanup) == napi_ok;
}

std::function<void()> RecordDispatch::wake() const {
  uv_async_t* async = &wakeup_->async;
  return [async] { uv_async_send(async); };
}

void RecordDispatch::OnEnvironmentEnd(napi_async_cleanup_hook_handle, void* argument) {
  RecordDispatch* dispatch = static_cast<Wakeup*>(argument)->dispatch;
  if (dispatch != nullptr) dispatch->owner_.on_end();
}

void RecordDispatch::Close() {
  dispatch_.Reset();
  if (wakeup_ == nullptr) return;
  wakeup_->dispatch = nullptr;
  const auto on_closed = [](uv_handle_t* handle) {
    auto* wakeup = static_cast<Wakeup*>(handle->data);
    if (--wakeup->handles != 0) return;
    if (wakeup->cleanup != nullptr) napi_remove_async_cleanup_hook(wakeup->cleanup);
    delete wakeup;
  };
  uv_close(reinterpret_cast<uv_handle_t*>(&wakeup_->turn_end), on_closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&wakeup_->async), on_closed);
  wakeup_ = nullptr;
}

void RecordDispatch::Ref() {
  if (wakeup_ != nullptr) uv_ref(reinterpret_cast<uv_handle_t*>(&wakeup_->async));
}

void RecordDispatch::Unref() {
  if (wakeup_ != nullptr) uv_unref(reinterpret_cast<uv_handle_t*>(&wakeup_->async));
}

// -- Turns.

void RecordDispatch::OpenTurn(size_t lane) {
  if (wakeup_ == nullptr || backend() == nullptr) return;
  seen_[lane] = ControlBlock(controls_[lane])[records::kReplyPublished].load();
  backend()->Wake(lane);
  // libuv runs this handle before it waits for I/O; the callbacks for I/O belong to the next turn.
  uv_prepare_start(&wakeup_->turn_end, [](uv_prepare_t* handle) {
    uv_prepare_stop(handle);
    RecordDispatch* dispatch = static_cast<Wakeup*>(handle->data)->dispatch;
    if (dispatch != nullptr) dispatch->EndTurns();
  });
}

// No reply is missed: the lane announces that it sleeps before it reads kTurnOpen, so either the
// lane or this thread sees the other's store.
void RecordDispatch::EndTurns() {
  for (size_t lane = 0; lane < controls_.size(); ++lane) {
    const ControlBlock control(controls_[lane]);
    if (control[records::kTurnOpen].load(std::memory_order_relaxed) == 0) continue;
    control[records::kTurnOpen].store(0, std::memory_order_seq_cst);
    const bool has_more = control[records::kReplyPublished].load() != seen_[lane];
    if (has_more && backend() != nullptr) backend()->Wake(lane);
  }
}

// -- Batches.

void RecordDispatch::OnWake() {
  if (backend() == nullptr || is_draining_) return;
  const Napi::HandleScope scope(dispatch_.Env());
  is_draining_ = true;
  const bool is_more = DrainRecords();
  is_draining_ = false;
  if (backend() != nullptr) owner_.on_batch();
  if (is_more && backend() != nullptr) uv_async_send(&wakeup_->async);
}

bool RecordDispatch::DrainRecords() {
  const uint64_t deadline_ns = uv_hrtime() + limits::kDrainNs;
  ConsumerSignal& signal = backend()->signal();
  bool is_raised = false;
  for (;;) {
    bool found = false;
    // If time runs out, the next batch begins with the next lane: the first lanes may always have
    // more.
    for (size_t count = backend()->lane_count(), looks = 0; looks < count; ++looks) {
      const size_t lane = next_lane_ % count;
      next_lane_ = lane + 1;
      RequestQueue::Region region;
      if (!backend()->requests(lane).Next(&region)) continue;
      found = true;
      if (!is_raised) signal.BeginDrain();
      is_raised = true;
      const Dispatched dispatched = DispatchRegion(lane, region);
      // The application may have closed the engine.
      if (backend() == nullptr) return false;
      if (dispatched == Dispatched::kStop) {
        signal.EndDrain();
        return false;
      }
      if (uv_hrtime() > deadline_ns) {
        signal.EndDrain();
        return true;
      }
    }
    if (found) continue;
    if (!is_raised) return false;
    // Records published until here have raised no signal: look once more.
    signal.EndDrain();
    is_raised = false;
  }
}

RecordDispatch::Dispatched RecordDispatch::DispatchRegion(size_t lane,
                                                          const RequestQueue::Region& region) {
  napi_env env = dispatch_.Env();
  const Napi::HandleScope scope(env);
  napi_value arguments[4];
  napi_create_uint32(env, static_cast<uint32_t>(lane), &arguments[0]);
  napi_create_uint32(env, region.segment, &arguments[1]);
  napi_create_uint32(env, region.start, &arguments[2]);
  napi_create_uint32(env, region.end, &arguments[3]);
  const ControlBlock control(controls_[lane]);
  std::atomic<uint32_t>& resume = control[records::kDispatchResume];
  // A lane that sees this offset also sees the bytes consumed before (RequestQueue::begun()).
  resume.store(region.start, std::memory_order_release);
  control[records::kBatchOpen].store(1, std::memory_order_relaxed);
  backend()->requests(lane).BeginReading();
  napi_value receiver;
  napi_get_global(env, &receiver);
  napi_value result = nullptr;
  const napi_status status =
      napi_make_callback(env, nullptr, receiver, dispatch_.Value(), 4, arguments, &result);
  if (backend() == nullptr) return Dispatched::kStop;
  uint32_t reached = region.start;
  if (status == napi_ok && napi_get_value_uint32(env, result, &reached) == napi_ok) {
    if (reached < region.start || reached > region.end) reached = region.end;
    EndBatch(lane, reached);
    return reached == region.end ? Dispatched::kAll : Dispatched::kSome;
  }
  reached = resume.load(std::memory_order_relaxed);
  // If JavaScript throws before the first record, drop the whole region: the throw would repeat
  // endlessly.
  if (reached <= region.start || reached > region.end) reached = region.end;
  EndBatch(lane, reached);
  bool is_pending = false;
  napi_is_exception_pending(env, &is_pending);
  if (!is_pending) return Dispatched::kStop;  // The environment is being terminated.
  napi_value error;
  if (napi_get_and_clear_last_exception(env, &error) != napi_ok) return Dispatched::kStop;
  if (napi_fatal_exception(env, error) != napi_ok) return Dispatched::kStop;
  return Dispatched::kSome;
}

// No reply is missed: the lane announces that it sleeps before it reads kBatchOpen, so either the
// lane or this thread sees the other's store.
void RecordDispatch::EndBatch(size_t lane, uint32_t reached) {
  const bool is_awaited = backend()->requests(lane).Consume(reached);
  ControlBlock(controls_[lane])[records::kBatchOpen].store(0, std::memory_order_seq_cst);
  if (is_awaited) return backend()->WakeLane(lane);
  backend()->Wake(lane);
}

}  // namespace httpsys
