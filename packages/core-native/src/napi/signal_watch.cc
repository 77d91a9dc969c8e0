#include <uv.h>

#include <memory>

#include "napi/methods.h"

namespace httpsys {
namespace {

// One watched signal. Freed when libuv has closed its handle, after a call of the stop function or
// with the environment.
struct SignalWatch {
  uv_signal_t handle{};
  Napi::FunctionReference callback;
  napi_async_cleanup_hook_handle hook = nullptr;
  bool is_closing = false;
};

void Close(SignalWatch* watch) {
  if (watch->is_closing) return;
  watch->is_closing = true;
  // Stop before closing: until the watch has stopped, the signal's default action is not restored.
  uv_signal_stop(&watch->handle);
  uv_close(reinterpret_cast<uv_handle_t*>(&watch->handle), [](uv_handle_t* handle) {
    auto* closed = static_cast<SignalWatch*>(handle->data);
    napi_remove_async_cleanup_hook(closed->hook);
    delete closed;
  });
}

void OnSignal(uv_signal_t* handle, int /*number*/) {
  auto* watch = static_cast<SignalWatch*>(handle->data);
  const Napi::Env env = watch->callback.Env();
  const Napi::HandleScope scope(env);
  watch->callback.MakeCallback(env.Global(), {});
}

}  // namespace

Napi::Value WatchSignal(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  uv_loop_t* loop = nullptr;
  auto watch = std::make_unique<SignalWatch>();
  if (napi_get_uv_event_loop(env, &loop) != napi_ok || uv_signal_init(loop, &watch->handle) != 0) {
    return env.Undefined();
  }
  // The handle owns the object from here on: libuv frees nothing by itself.
  SignalWatch* raw = watch.release();
  raw->handle.data = raw;
  raw->callback = Napi::Persistent(info[1].As<Napi::Function>());
  napi_add_async_cleanup_hook(
      env,
      [](napi_async_cleanup_hook_handle, void* data) { Close(static_cast<SignalWatch*>(data)); },
      raw, &raw->hook);
  const int number = info[0].As<Napi::Number>().Int32Value();
  if (uv_signal_start(&raw->handle, OnSignal, number) != 0) {
    Close(raw);
    return env.Undefined();
  }
  uv_unref(reinterpret_cast<uv_handle_t*>(&raw->handle));
  // The watch may already be freed when this is called a second time: JavaScript calls it once.
  return Napi::Function::New(env, [raw](const Napi::CallbackInfo&) { Close(raw); });
}

}  // namespace httpsys
