#include "napi/engine_wrap.h"

#include <string>
#include <utility>

#include "base/limits.h"
#include "napi/arguments.h"
#include "napi/methods.h"
#include "napi/object_reader.h"
#include "records/records.h"

namespace httpsys {
namespace {

void RefLoop(EngineWrap& engine, const Napi::CallbackInfo&) { engine.dispatch().Ref(); }

void UnrefLoop(EngineWrap& engine, const Napi::CallbackInfo&) { engine.dispatch().Unref(); }

Napi::Value Drain(EngineWrap& engine, const Napi::CallbackInfo& info) {
  const DrainGoal goal = info[1].IsString() && info[1].As<Napi::String>().Utf8Value() == "handled"
                             ? DrainGoal::kHandled
                             : DrainGoal::kSent;
  const bool is_done =
      engine.backend() == nullptr || engine.backend()->Drain(Number(info, 0), goal);
  return Napi::Boolean::New(info.Env(), is_done);
}

void Close(EngineWrap& engine, const Napi::CallbackInfo&) { engine.CloseAll(); }

}  // namespace

Napi::Function EngineWrap::Define(Napi::Env env) {
  std::vector<EngineMethod> methods = {Method<RefLoop>("ref"), Method<UnrefLoop>("unref"),
                                       Method<Drain>("drain"), Method<Close>("close")};
  for (const std::vector<EngineMethod>& more : {LaneMethods(), ServerMethods(), HostMethods()}) {
    methods.insert(methods.end(), more.begin(), more.end());
  }
  return DefineClass(env, "Engine", methods);
}

EngineWrap::EngineWrap(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<EngineWrap>(info),
      dispatch_({&backend_, [this] { AfterBatch(this); }, [this] { OnEnvironmentEnd(); }}) {
  const Napi::Env env = info.Env();
  if (!info[0].IsObject()) {
    Napi::TypeError::New(env, "new Engine() needs options").ThrowAsJavaScriptException();
    return;
  }
  const Napi::Object given = info[0].As<Napi::Object>();
  const Napi::Value lanes = given.Get("lanes");
  const Napi::Value dispatch = given.Get("dispatch");
  BackendOptions options;
  std::vector<int32_t*> controls;
  if (!lanes.IsArray() || !ReadValue(given.Get("methods"), &options.methods) ||
      !dispatch.IsFunction() || !ReadLanes(lanes.As<Napi::Array>(), &options, &controls)) {
    Napi::TypeError::New(env, "The options of Engine are lanes, methods and dispatch")
        .ThrowAsJavaScriptException();
    return;
  }
  if (const Napi::Value queue_bytes = given.Get("queueBytes"); queue_bytes.IsNumber()) {
    const auto bytes_max = static_cast<uint64_t>(queue_bytes.As<Napi::Number>().Int64Value());
    for (LaneMemory& lane : options.lanes) lane.queue_bytes_max = bytes_max;
  }
  const Napi::Value registered = given.Get("registered");
  if (registered.IsFunction()) registered_ = Napi::Persistent(registered.As<Napi::Function>());
  lanes_ = controls.size();
  if (!dispatch_.Open(env, dispatch.As<Napi::Function>(), std::move(controls))) {
    Napi::Error::New(env, "The event loop cannot be watched").ThrowAsJavaScriptException();
    return;
  }
  options.wake_consumer = dispatch_.wake();
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

bool EngineWrap::ReadLanes(Napi::Array lanes, BackendOptions* options,
                           std::vector<int32_t*>* controls) {
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
      memory.segments.push_back(MemoryOf(segment.As<Napi::Uint8Array>()));
      Keep(segment);
    }
    if (memory.segments.size() < 2) return false;
    Keep(control);
    controls->push_back(memory.control);
    options->lanes.push_back(std::move(memory));
  }
  return !options->lanes.empty();
}

void EngineWrap::OnEnvironmentEnd() {
  if (backend_ != nullptr) {
    BeforeEnd(backend_.get());
    backend_->Drain(limits::kExitDrainMs, DrainGoal::kSent);
  }
  CloseAll();
}

void EngineWrap::CloseAll() {
  if (backend_ != nullptr) {
    // Close the backend first: its threads use the memory that is released below.
    const std::unique_ptr<HostBackend> backend = std::move(backend_);
    backend->Close();
    Napi::ObjectWrap<EngineWrap>::Unref();
  }
  memory_.clear();
  registered_.Reset();
  dispatch_.Close();
}

bool EngineWrap::ReadLane(const Napi::CallbackInfo& info, size_t* lane) const {
  *lane = Number(info, 0);
  if (*lane < lanes_) return true;
  Napi::RangeError::New(info.Env(), "No such lane").ThrowAsJavaScriptException();
  return false;
}

}  // namespace httpsys
