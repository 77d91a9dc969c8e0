#include <uv.h>

#include <string>
#include <utility>

#include "backend/create_engine.h"
#include "napi/methods.h"
#include "napi/object_of.h"

namespace httpsys {
namespace {

class StateWorker final : public Napi::AsyncWorker {
 public:
  StateWorker(const Napi::Function& callback, uint16_t port, CacheQuestion question)
      : Napi::AsyncWorker(callback, "httpsys:serviceState"),
        port_(port),
        question_(std::move(question)) {}

 private:
  void Execute() override { status_ = AskServiceState(port_, question_, &report_); }
  void OnOK() override {
    const Napi::HandleScope scope(Env());
    Callback().Call({Napi::Number::New(Env(), status_), ObjectOf(Env(), report_)});
  }

  const uint16_t port_;
  const CacheQuestion question_;
  int status_ = 0;
  PortReport report_;
};

uint32_t NumberOf(Napi::Object from, const char* name) {
  const Napi::Value value = from.Get(name);
  return value.IsNumber() ? value.As<Napi::Number>().Uint32Value() : 0;
}

// Returns the name of a conflict. lib/listen/registrations.js turns it into an error message.
const char* NameOf(ConflictReason reason) {
  switch (reason) {
    case ConflictReason::kNone:
      return "";
    case ConflictReason::kPrefix:
      return "prefix";
    case ConflictReason::kOtherQueue:
      return "otherQueue";
    case ConflictReason::kQueueMode:
      return "queueMode";
    case ConflictReason::kExclusiveThere:
      return "exclusiveThere";
    case ConflictReason::kExclusiveWanted:
      return "exclusiveWanted";
    case ConflictReason::kScheme:
      return "scheme";
    case ConflictReason::kPlain:
      return "plain";
    case ConflictReason::kMembers:
      return "members";
    case ConflictReason::kEntries:
      return "entries";
    case ConflictReason::kTerms:
      return "terms";
  }
  return "";
}

void SetSockets(Napi::Object object, const std::vector<Descriptor>& sockets,
                const std::vector<std::string>& fed) {
  Napi::Array list = Napi::Array::New(object.Env(), sockets.size());
  for (uint32_t i = 0; i < sockets.size(); ++i) list.Set(i, sockets[i].number);
  object.Set("sockets", list);
  Napi::Array addresses = Napi::Array::New(object.Env(), fed.size());
  for (uint32_t i = 0; i < fed.size(); ++i) addresses.Set(i, fed[i]);
  object.Set("fed", addresses);
}

}  // namespace

Napi::Object ResultObject(Napi::Env env, const RegistrationResult& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("token", Napi::Number::New(env, result.token));
  object.Set("error", Napi::Number::New(env, -result.error));
  object.Set("pid", Napi::Number::New(env, result.pid));
  object.Set("uid", Napi::Number::New(env, result.uid));
  object.Set("prefix", Napi::String::New(env, result.prefix));
  object.Set("wanted", Napi::String::New(env, result.wanted));
  object.Set("queue", Napi::String::New(env, result.queue));
  object.Set("reason", Napi::String::New(env, NameOf(result.reason)));
  object.Set("peerOldest", Napi::Number::New(env, result.peer_oldest));
  object.Set("peerNewest", Napi::Number::New(env, result.peer_newest));
  SetSockets(object, result.sockets, result.fed);
  return object;
}

Napi::Object SocketsObject(Napi::Env env, const PortSockets& there) {
  Napi::Object object = Napi::Object::New(env);
  SetSockets(object, there.sockets, there.fed);
  return object;
}

Napi::Value UseRuntimeDirectory(const Napi::CallbackInfo& info) {
  const int status =
      info[0].IsString() ? ChooseRuntimeDirectory(info[0].As<Napi::String>()) : UV_EINVAL;
  return Napi::Number::New(info.Env(), status);
}

Napi::Value PortName(const Napi::CallbackInfo& info) {
  const uint32_t port = info[0].IsNumber() ? info[0].As<Napi::Number>().Uint32Value() : 0;
  return Napi::String::New(info.Env(), MeetingPlaceOf(static_cast<uint16_t>(port)));
}

void ServiceState(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber() || !info[1].IsFunction()) {
    Napi::TypeError::New(info.Env(), "serviceState() needs a port and a callback")
        .ThrowAsJavaScriptException();
    return;
  }
  CacheQuestion question;
  if (info[2].IsObject()) {
    const Napi::Object asked = info[2].As<Napi::Object>();
    question.wants = static_cast<uint8_t>(NumberOf(asked, "wants"));
    question.limit = NumberOf(asked, "limit");
    if (asked.Get("url").IsString()) question.url = asked.Get("url").As<Napi::String>();
  }
  auto* worker = new StateWorker(info[1].As<Napi::Function>(),
                                 static_cast<uint16_t>(info[0].As<Napi::Number>().Uint32Value()),
                                 std::move(question));
  worker->Queue();
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): an AsyncWorker deletes itself when done.

}  // namespace httpsys
