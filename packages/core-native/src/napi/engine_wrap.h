#pragma once
// `Engine` of types/binding.d.ts: a Backend and the JavaScript memory that it uses.

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "napi/host_backend.h"
#include "napi/record_dispatch.h"

namespace httpsys {

class EngineWrap;

using EngineMethod = Napi::ClassPropertyDescriptor<EngineWrap>;

// Keeps itself and all given memory alive until close() or the end of the environment, because
// threads use both. Its methods are functions of the files *_methods.cc, grouped by subject; after
// close() they do nothing. Thread: JavaScript.
class EngineWrap : public Napi::ObjectWrap<EngineWrap> {
 public:
  static Napi::Function Define(Napi::Env env);

  explicit EngineWrap(const Napi::CallbackInfo& info);
  ~EngineWrap() override;

  // Replaces ObjectWrap::Unwrap(), which aborts the process while worker.terminate() is in
  // progress: N-API then refuses calls, and errors cannot be thrown. If it returns nullptr, a
  // method returns undefined.
  static EngineWrap* Unwrap(Napi::Object object);

  // Turns a function (EngineWrap&, const Napi::CallbackInfo&) into a method.
  template <auto kFunction>
  static EngineMethod Method(const char* name) {
    return InstanceMethod<&EngineWrap::Call<kFunction>>(name);
  }

  // -- For the methods.

  // The backend; nullptr after close().
  HostBackend* backend() const { return backend_.get(); }
  RecordDispatch& dispatch() { return dispatch_; }
  // The JavaScript function that receives results of registrations; may be empty.
  const Napi::FunctionReference& registered() const { return registered_; }
  // Reads the lane in the first argument. Returns false, with an exception pending, if it is none.
  bool ReadLane(const Napi::CallbackInfo& info, size_t* lane) const;
  // Keeps memory alive that the backend uses.
  void Keep(Napi::Value memory) { memory_.push_back(Napi::Persistent(memory)); }
  void CloseAll();

 private:
  template <auto kFunction>
  auto Call(const Napi::CallbackInfo& info) {
    return kFunction(*this, info);
  }

  // Fills in the options' lanes and `controls`. Returns false if an element has another form.
  bool ReadLanes(Napi::Array lanes, BackendOptions* options, std::vector<int32_t*>* controls);
  void OnEnvironmentEnd();

  std::unique_ptr<HostBackend> backend_;
  RecordDispatch dispatch_;
  Napi::FunctionReference registered_;
  size_t lanes_ = 0;
  std::vector<Napi::Reference<Napi::Value>> memory_;
};

}  // namespace httpsys
