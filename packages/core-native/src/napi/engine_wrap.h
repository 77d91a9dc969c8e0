#pragma once
// `Engine` of types/binding.d.ts: a Backend and the JavaScript memory that it uses.

#include <napi.h>
#include <uv.h>

#include <memory>
#include <vector>

#include "napi/host_backend.h"

namespace httpsys {

// Keeps itself and all memory given to it alive until close() or the end of the environment,
// because threads use both. Thread: JavaScript.
class EngineWrap : public Napi::ObjectWrap<EngineWrap> {
 public:
  static Napi::Function Define(Napi::Env env);
  // Adds the functions that need no engine to the addon's exports.
  static void AddListeningExports(Napi::Env env, Napi::Object exports);

  explicit EngineWrap(const Napi::CallbackInfo& info);
  ~EngineWrap() override;

  // Replaces ObjectWrap's, which ends the process while worker.terminate() is under way: N-API
  // refuses calls then, and errors cannot be thrown. nullptr makes a method return undefined.
  static EngineWrap* Unwrap(Napi::Object object);

 private:
  enum class Dispatched : uint8_t { kAll, kSome, kStop };

  // Wakes the JavaScript thread. The handle outlives the object: it is freed after the loop has
  // closed it.
  struct Wakeup {
    uv_async_t async;
    EngineWrap* engine = nullptr;
    napi_async_cleanup_hook_handle cleanup = nullptr;
  };

  Napi::Value AddReplySegment(const Napi::CallbackInfo& info);
  Napi::Value SendBlock(const Napi::CallbackInfo& info);
  Napi::Value TakeBlock(const Napi::CallbackInfo& info);
  void LendBlock(const Napi::CallbackInfo& info);
  Napi::Value Drain(const Napi::CallbackInfo& info);
  void Wake(const Napi::CallbackInfo& info);
  void Configure(const Napi::CallbackInfo& info);
  void Unlisten(const Napi::CallbackInfo& info);
  Napi::Value HasUnread(const Napi::CallbackInfo& info);
  void CheckConnections(const Napi::CallbackInfo& info);
  void Ref(const Napi::CallbackInfo& info);
  void Unref(const Napi::CallbackInfo& info);
  void Close(const Napi::CallbackInfo& info);

  // Defined in socket_methods.cc or url_methods.cc, whichever is compiled.
  static std::vector<Napi::ClassPropertyDescriptor<EngineWrap>> ListeningMethods();

  // -- In socket_methods.cc.

  Napi::Value Listen(const Napi::CallbackInfo& info);
  Napi::Value Adopt(const Napi::CallbackInfo& info);
  void StopListening(const Napi::CallbackInfo& info);
  void Introduce(const Napi::CallbackInfo& info);
  Napi::Value Meet(const Napi::CallbackInfo& info);
  Napi::Value TakeAlone(const Napi::CallbackInfo& info);
  Napi::Value Contribute(const Napi::CallbackInfo& info);
  void Withdraw(const Napi::CallbackInfo& info);
  Napi::Value Sockets(const Napi::CallbackInfo& info);
  Napi::Value ListenBeside(const Napi::CallbackInfo& info);
  Napi::Value Register(const Napi::CallbackInfo& info);
  Napi::Value ChangeTerms(const Napi::CallbackInfo& info);
  Napi::Value Unregister(const Napi::CallbackInfo& info);
  void Reserve(const Napi::CallbackInfo& info);
  void Leave(const Napi::CallbackInfo& info);
  void RefuseAbandoned(const Napi::CallbackInfo& info);
  void RefuseRest();
  Napi::Value TakeRefused(const Napi::CallbackInfo& info);
  void AnswerHello(const Napi::CallbackInfo& info);
  Napi::Value AskTls(const Napi::CallbackInfo& info);
  void DeliverResults();

  // -- In url_methods.cc.

  Napi::Value OpenQueue(const Napi::CallbackInfo& info);
  Napi::Value AddUrl(const Napi::CallbackInfo& info);
  Napi::Value FlushCache(const Napi::CallbackInfo& info);
  Napi::Value SendFile(const Napi::CallbackInfo& info);
  Napi::Value UrlResultObject(const UrlResult& result);
  void RemoveUrl(const Napi::CallbackInfo& info);

  bool ReadLanes(Napi::Array lanes, BackendOptions* options);
  bool OpenWakeup(Napi::Env env);
  // Reads the lane in the first argument. Returns false, with an exception pending, if it is none.
  bool ReadLane(const Napi::CallbackInfo& info, size_t* lane) const;

  void OnWake();
  bool DrainRecords();
  Dispatched DispatchRegion(size_t lane, const RequestQueue::Region& region);
  void ConsumeRecords(size_t lane, uint32_t offset);
  void CloseAll();

  static void OnEnvironmentEnd(napi_async_cleanup_hook_handle handle, void* argument);

  std::unique_ptr<HostBackend> backend_;
  Wakeup* wakeup_ = nullptr;
  bool is_draining_ = false;
  Napi::FunctionReference dispatch_;
  Napi::FunctionReference registered_;
  std::vector<int32_t*> controls_;
  std::vector<Napi::Reference<Napi::Value>> memory_;
};

}  // namespace httpsys
