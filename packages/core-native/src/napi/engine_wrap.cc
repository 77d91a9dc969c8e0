#include "napi/engine_wrap.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/limits.h"
#include "napi/arguments.h"
#include "napi/server_settings.h"
#include "records/control_block.h"

namespace httpsys {
namespace {

std::span<uint8_t> BytesOf(Napi::Uint8Array array) { return {array.Data(), array.ByteLength()}; }

// Keeps a lane's memory alive while V8 has it as an ArrayBuffer.
struct Lease {
  Lease(std::shared_ptr<BlockPool> pool, size_t capacity)
      : pool(std::move(pool)), capacity(capacity) {}

  static void End(napi_env, void* memory, void* hint) {
    const std::unique_ptr<Lease> self(static_cast<Lease*>(hint));
    Block block;
    block.memory.reset(static_cast<uint8_t*>(memory));
    block.capacity = self->capacity;
    self->pool->Put(std::move(block));
  }

  std::shared_ptr<BlockPool> pool;
  size_t capacity;
};

}  // namespace

Napi::Function EngineWrap::Define(Napi::Env env) {
  std::vector<Napi::ClassPropertyDescriptor<EngineWrap>> methods = ListeningMethods();
  methods.insert(methods.end(),
                 {
                     InstanceMethod<&EngineWrap::AddReplySegment>("addReplySegment"),
                     InstanceMethod<&EngineWrap::SendBlock>("sendBlock"),
                     InstanceMethod<&EngineWrap::TakeBlock>("takeBlock"),
                     InstanceMethod<&EngineWrap::LendBlock>("lendBlock"),
                     InstanceMethod<&EngineWrap::Wake>("wake"),
                     InstanceMethod<&EngineWrap::Configure>("configure"),
                     InstanceMethod<&EngineWrap::Unlisten>("unlisten"),
                     InstanceMethod<&EngineWrap::HasUnread>("hasUnread"),
                     InstanceMethod<&EngineWrap::CheckConnections>("checkConnections"),
                     InstanceMethod<&EngineWrap::Ref>("ref"),
                     InstanceMethod<&EngineWrap::Unref>("unref"),
                     InstanceMethod<&EngineWrap::Drain>("drain"),
                     InstanceMethod<&EngineWrap::Close>("close"),
                 });
  return DefineClass(env, "Engine", methods);
}

EngineWrap::EngineWrap(const Napi::CallbackInfo& info) : Napi::ObjectWrap<EngineWrap>(info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsObject()) {
    Napi::TypeError::New(env, "new Engine() needs options").ThrowAsJavaScriptException();
    return;
  }
  const Napi::Object given = info[0].As<Napi::Object>();
  const Napi::Value lanes = given.Get("lanes");
  const Napi::Value methods = given.Get("methods");
  const Napi::Value dispatch = given.Get("dispatch");
  BackendOptions options;
  if (!lanes.IsArray() || !methods.IsArray() || !dispatch.IsFunction() ||
      !ReadLanes(lanes.As<Napi::Array>(), &options)) {
    Napi::TypeError::New(env, "The options of Engine are lanes, methods and dispatch")
        .ThrowAsJavaScriptException();
    return;
  }
  options.methods = Strings(methods.As<Napi::Array>());
  dispatch_ = Napi::Persistent(dispatch.As<Napi::Function>());
  const Napi::Value registered = given.Get("registered");
  if (registered.IsFunction()) registered_ = Napi::Persistent(registered.As<Napi::Function>());
  if (!OpenWakeup(env)) {
    Napi::Error::New(env, "The event loop cannot be watched").ThrowAsJavaScriptException();
    return;
  }
  uv_async_t* async = &wakeup_->async;
  options.wake_consumer = [async] { uv_async_send(async); };
  int status = 0;
  backend_ = CreateHostBackend(std::move(options), &status);
  if (backend_ == nullptr) {
    CloseAll();
    Napi::Error::New(env, std::string("I/O threads cannot be started: ") + uv_strerror(status))
        .ThrowAsJavaScriptException();
    return;
  }
  Napi::ObjectWrap<EngineWrap>::Ref();
}

EngineWrap* EngineWrap::Unwrap(Napi::Object object) {
  void* engine = nullptr;
  if (napi_unwrap(object.Env(), object, &engine) != napi_ok) return nullptr;
  return static_cast<EngineWrap*>(engine);
}

EngineWrap::~EngineWrap() { CloseAll(); }

bool EngineWrap::ReadLanes(Napi::Array lanes, BackendOptions* options) {
  for (uint32_t i = 0; i < lanes.Length(); ++i) {
    const Napi::Value item = lanes.Get(i);
    if (!item.IsObject()) return false;
    const Napi::Value control = item.As<Napi::Object>().Get("control");
    const Napi::Value segments = item.As<Napi::Object>().Get("segments");
    if (!control.IsTypedArray() || !segments.IsArray()) return false;
    Napi::Int32Array words = control.As<Napi::Int32Array>();
    if (words.ElementLength() < records::kControlWords) return false;
    LaneMemory memory;
    memory.control = words.Data();
    const Napi::Array list = segments.As<Napi::Array>();
    for (uint32_t j = 0; j < list.Length(); ++j) {
      const Napi::Value segment = list.Get(j);
      if (!segment.IsTypedArray()) return false;
      memory.segments.push_back(BytesOf(segment.As<Napi::Uint8Array>()));
      memory_.push_back(Napi::Persistent(segment));
    }
    if (memory.segments.size() < 2) return false;
    memory_.push_back(Napi::Persistent(control));
    controls_.push_back(memory.control);
    options->lanes.push_back(std::move(memory));
  }
  return !options->lanes.empty();
}

// -- The JavaScript thread's end of the request queue.

bool EngineWrap::OpenWakeup(Napi::Env env) {
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return false;
  auto wakeup = std::make_unique<Wakeup>();
  const int failed = uv_async_init(loop, &wakeup->async, [](uv_async_t* async) {
    EngineWrap* engine = static_cast<Wakeup*>(async->data)->engine;
    if (engine != nullptr) engine->OnWake();
  });
  if (failed != 0) return false;
  wakeup->async.data = wakeup.get();
  wakeup->engine = this;
  uv_unref(reinterpret_cast<uv_handle_t*>(&wakeup->async));
  wakeup_ = wakeup.release();
  return napi_add_async_cleanup_hook(env, OnEnvironmentEnd, wakeup_, &wakeup_->cleanup) == napi_ok;
}

// Called at worker.terminate(), at process.exit() in a worker, or at the natural end of a thread.
void EngineWrap::OnEnvironmentEnd(napi_async_cleanup_hook_handle, void* argument) {
  EngineWrap* engine = static_cast<Wakeup*>(argument)->engine;
  if (engine == nullptr) return;
  if (engine->backend_ != nullptr) {
    if constexpr (kSharesPorts) engine->RefuseRest();
    engine->backend_->Drain(limits::kExitDrainMs, DrainGoal::kSent);
  }
  engine->CloseAll();
}

void EngineWrap::OnWake() {
  if (backend_ == nullptr || is_draining_) return;
  const Napi::HandleScope scope(Env());
  is_draining_ = true;
  const bool is_more = DrainRecords();
  is_draining_ = false;
  if constexpr (kSharesPorts) {
    if (backend_ != nullptr) DeliverResults();
  }
  if (is_more && backend_ != nullptr) uv_async_send(&wakeup_->async);
}

// Returns true if the event loop must get its turn before the remaining records.
bool EngineWrap::DrainRecords() {
  const uint64_t deadline_ns = uv_hrtime() + limits::kDrainNs;
  ConsumerSignal& signal = backend_->signal();
  bool is_raised = false;
  for (;;) {
    bool found = false;
    for (size_t lane = 0; lane < backend_->lane_count(); ++lane) {
      RequestQueue::Region region;
      if (!backend_->requests(lane).Next(&region)) continue;
      found = true;
      if (!is_raised) signal.BeginDrain();
      is_raised = true;
      const Dispatched dispatched = DispatchRegion(lane, region);
      // The application may have closed the engine.
      if (backend_ == nullptr) return false;
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
    // Records that were published until here have raised no signal, so look once more.
    signal.EndDrain();
    is_raised = false;
  }
}

EngineWrap::Dispatched EngineWrap::DispatchRegion(size_t lane, const RequestQueue::Region& region) {
  napi_env env = Env();
  const Napi::HandleScope scope(env);
  napi_value arguments[4];
  napi_create_uint32(env, static_cast<uint32_t>(lane), &arguments[0]);
  napi_create_uint32(env, region.segment, &arguments[1]);
  napi_create_uint32(env, region.start, &arguments[2]);
  napi_create_uint32(env, region.end, &arguments[3]);
  const ControlBlock control(controls_[lane]);
  std::atomic<uint32_t>& resume = control[records::kDispatchResume];
  resume.store(region.start, std::memory_order_relaxed);
  backend_->requests(lane).BeginReading();
  napi_value receiver;
  napi_get_global(env, &receiver);
  napi_value result = nullptr;
  const napi_status status =
      napi_make_callback(env, nullptr, receiver, dispatch_.Value(), 4, arguments, &result);
  if (backend_ == nullptr) return Dispatched::kStop;
  uint32_t reached = region.start;
  if (status == napi_ok && napi_get_value_uint32(env, result, &reached) == napi_ok) {
    if (reached < region.start || reached > region.end) reached = region.end;
    ConsumeRecords(lane, reached);
    return reached == region.end ? Dispatched::kAll : Dispatched::kSome;
  }
  reached = resume.load(std::memory_order_relaxed);
  // Without this check, a throw before the first record would repeat for ever.
  if (reached <= region.start || reached > region.end) reached = region.end;
  ConsumeRecords(lane, reached);
  bool is_pending = false;
  napi_is_exception_pending(env, &is_pending);
  if (!is_pending) return Dispatched::kStop;  // The environment is being terminated.
  napi_value error;
  if (napi_get_and_clear_last_exception(env, &error) != napi_ok) return Dispatched::kStop;
  if (napi_fatal_exception(env, error) != napi_ok) return Dispatched::kStop;
  return Dispatched::kSome;
}

void EngineWrap::ConsumeRecords(size_t lane, uint32_t offset) {
  if (backend_->requests(lane).Consume(offset)) backend_->WakeLane(lane);
}

void EngineWrap::CloseAll() {
  if (backend_ != nullptr) {
    // The threads end first: they use the memory that is released below.
    const std::unique_ptr<HostBackend> backend = std::move(backend_);
    backend->Close();
    Napi::ObjectWrap<EngineWrap>::Unref();
  }
  memory_.clear();
  dispatch_.Reset();
  registered_.Reset();
  if (wakeup_ == nullptr) return;
  wakeup_->engine = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&wakeup_->async), [](uv_handle_t* handle) {
    const std::unique_ptr<Wakeup> wakeup(static_cast<Wakeup*>(handle->data));
    if (wakeup->cleanup != nullptr) napi_remove_async_cleanup_hook(wakeup->cleanup);
  });
  wakeup_ = nullptr;
}

// -- Methods. After close() they do nothing.

bool EngineWrap::ReadLane(const Napi::CallbackInfo& info, size_t* lane) const {
  *lane = Number(info, 0);
  if (*lane < controls_.size()) return true;
  Napi::RangeError::New(info.Env(), "No such lane").ThrowAsJavaScriptException();
  return false;
}

Napi::Value EngineWrap::AddReplySegment(const Napi::CallbackInfo& info) {
  size_t lane;
  if (!ReadLane(info, &lane)) return info.Env().Undefined();
  if (!info[1].IsTypedArray() || info[1].As<Napi::Uint8Array>().ByteLength() % 8 != 0) {
    Napi::TypeError::New(info.Env(), "A reply segment is a Uint8Array of a multiple of 8 bytes")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  if (backend_ == nullptr) return Napi::Number::New(info.Env(), 0);
  memory_.push_back(Napi::Persistent(info[1]));
  const uint32_t id = backend_->AddReplySegment(lane, BytesOf(info[1].As<Napi::Uint8Array>()));
  return Napi::Number::New(info.Env(), id);
}

// JavaScript keeps the memory of blocks alive: dispatch_ leads to it, and outlives the lanes'
// threads.
Napi::Value EngineWrap::SendBlock(const Napi::CallbackInfo& info) {
  size_t lane;
  if (!ReadLane(info, &lane)) return info.Env().Undefined();
  if (!info[1].IsTypedArray()) {
    Napi::TypeError::New(info.Env(), "A block is a Uint8Array").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  if (backend_ == nullptr) return Napi::Number::New(info.Env(), 0);
  const Napi::Uint8Array array = info[1].As<Napi::Uint8Array>();
  const uint32_t id = backend_->lent(lane).Lend(array.Data(), array.ByteLength());
  return Napi::Number::New(info.Env(), id);
}

Napi::Value EngineWrap::TakeBlock(const Napi::CallbackInfo& info) {
  size_t lane;
  if (!ReadLane(info, &lane)) return info.Env().Undefined();
  Block block;
  if (backend_ != nullptr) block = backend_->requests(lane).blocks().Take(Number(info, 1));
  if (block.memory == nullptr) return info.Env().Undefined();
  auto lease = std::make_unique<Lease>(backend_->requests(lane).block_pool(), block.capacity);
  napi_value buffer;
  const napi_status status = napi_create_external_arraybuffer(
      info.Env(), block.memory.get(), block.bytes, Lease::End, lease.get(), &buffer);
  if (status == napi_ok) {
    (void)block.memory.release();
    (void)lease.release();
    return {info.Env(), buffer};
  }
  // A runtime without external memory gets a copy; an environment that is being terminated nothing.
  void* copy = nullptr;
  if (napi_create_arraybuffer(info.Env(), block.bytes, &copy, &buffer) != napi_ok) {
    return info.Env().Undefined();
  }
  std::memcpy(copy, block.memory.get(), block.bytes);
  return {info.Env(), buffer};
}

void EngineWrap::LendBlock(const Napi::CallbackInfo& info) {
  size_t lane;
  if (!ReadLane(info, &lane) || backend_ == nullptr) return;
  if (!info[2].IsTypedArray() ||
      info[2].As<Napi::Uint8Array>().ByteLength() != limits::kBlockBytes) {
    Napi::TypeError::New(info.Env(), "A lent block is a Uint8Array of kBlockBytes")
        .ThrowAsJavaScriptException();
    return;
  }
  backend_->requests(lane).receive_blocks().Lend(Number(info, 1),
                                                 info[2].As<Napi::Uint8Array>().Data());
}

void EngineWrap::Wake(const Napi::CallbackInfo& info) {
  size_t lane;
  if (ReadLane(info, &lane) && backend_ != nullptr) backend_->Wake(lane);
}

void EngineWrap::Configure(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr) return;
  ServerSettings settings;
  if (!info[1].IsObject() || !ReadServerSettings(info[1].As<Napi::Object>(), &settings)) {
    Napi::TypeError::New(info.Env(), "The settings of a server are a ServerConfig")
        .ThrowAsJavaScriptException();
    return;
  }
  if (backend_->Configure(Number(info, 0), std::move(settings)) != 0) {
    Napi::TypeError::New(info.Env(), "A URL prefix is not canonical or is given twice")
        .ThrowAsJavaScriptException();
  }
}

void EngineWrap::Unlisten(const Napi::CallbackInfo& info) {
  if (backend_ != nullptr) backend_->Unlisten(Number(info, 0));
}

Napi::Value EngineWrap::HasUnread(const Napi::CallbackInfo& info) {
  bool has_unread = false;
  RequestQueue::Region region;
  for (size_t lane = 0; backend_ != nullptr && lane < backend_->lane_count(); ++lane) {
    has_unread = has_unread || backend_->requests(lane).Next(&region);
  }
  return Napi::Boolean::New(info.Env(), has_unread);
}

void EngineWrap::CheckConnections(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr) return;
  backend_->CheckConnections(Number(info, 0), Number(info, 1), Number(info, 2));
}

void EngineWrap::Ref(const Napi::CallbackInfo&) {
  if (wakeup_ != nullptr) uv_ref(reinterpret_cast<uv_handle_t*>(&wakeup_->async));
}

void EngineWrap::Unref(const Napi::CallbackInfo&) {
  if (wakeup_ != nullptr) uv_unref(reinterpret_cast<uv_handle_t*>(&wakeup_->async));
}

Napi::Value EngineWrap::Drain(const Napi::CallbackInfo& info) {
  const DrainGoal goal = info[1].IsString() && info[1].As<Napi::String>().Utf8Value() == "handled"
                             ? DrainGoal::kHandled
                             : DrainGoal::kSent;
  const bool is_done = backend_ == nullptr || backend_->Drain(Number(info, 0), goal);
  return Napi::Boolean::New(info.Env(), is_done);
}

void EngineWrap::Close(const Napi::CallbackInfo&) { CloseAll(); }

}  // namespace httpsys
