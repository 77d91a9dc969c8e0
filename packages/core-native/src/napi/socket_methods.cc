// Methods of `Engine` for a backend that is given sockets; url_methods.cc has those for URLs.

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "napi/arguments.h"
#include "napi/engine_wrap.h"
#include "napi/port_sharing.h"
#include "napi/server_settings.h"
#include "napi/signal_watch.h"
#include "napi/tls_settings.h"

namespace httpsys {

std::vector<Napi::ClassPropertyDescriptor<EngineWrap>> EngineWrap::ListeningMethods() {
  return {
      InstanceMethod<&EngineWrap::Listen>("listen"),
      InstanceMethod<&EngineWrap::StopListening>("stopListening"),
      InstanceMethod<&EngineWrap::Adopt>("adopt"),
      InstanceMethod<&EngineWrap::Introduce>("introduce"),
      InstanceMethod<&EngineWrap::Meet>("meet"),
      InstanceMethod<&EngineWrap::TakeAlone>("takeAlone"),
      InstanceMethod<&EngineWrap::Contribute>("contribute"),
      InstanceMethod<&EngineWrap::Withdraw>("withdraw"),
      InstanceMethod<&EngineWrap::Sockets>("sockets"),
      InstanceMethod<&EngineWrap::ListenBeside>("listenBeside"),
      InstanceMethod<&EngineWrap::Register>("register"),
      InstanceMethod<&EngineWrap::ChangeTerms>("changeTerms"),
      InstanceMethod<&EngineWrap::Unregister>("unregister"),
      InstanceMethod<&EngineWrap::Reserve>("reserve"),
      InstanceMethod<&EngineWrap::Leave>("leave"),
      InstanceMethod<&EngineWrap::RefuseAbandoned>("refuseAbandoned"),
      InstanceMethod<&EngineWrap::TakeRefused>("takeRefused"),
      InstanceMethod<&EngineWrap::AnswerHello>("answerHello"),
      InstanceMethod<&EngineWrap::AskTls>("askTls"),
  };
}

namespace {

Napi::Value OpenLog(const Napi::CallbackInfo& info) {
  std::string path;
  const int error = OpenErrorLog(&path);
  if (error == 0) return info.Env().Undefined();
  Napi::Object failure = Napi::Object::New(info.Env());
  failure.Set("path", Napi::String::New(info.Env(), path));
  failure.Set("error", Napi::Number::New(info.Env(), -error));
  return failure;
}

}  // namespace

void EngineWrap::AddListeningExports(Napi::Env env, Napi::Object exports) {
  exports.Set("useRuntimeDirectory",
              Napi::Function::New<UseRuntimeDirectory>(env, "useRuntimeDirectory"));
  exports.Set("portName", Napi::Function::New<PortName>(env, "portName"));
  exports.Set("serviceState", Napi::Function::New<ServiceState>(env, "serviceState"));
  exports.Set("openErrorLog", Napi::Function::New<OpenLog>(env, "openErrorLog"));
  exports.Set("createTlsContext", Napi::Function::New<CreateTlsContext>(env, "createTlsContext"));
  exports.Set("copyTlsHost", Napi::Function::New<CopyTlsHost>(env, "copyTlsHost"));
  exports.Set("createTicketKeys", Napi::Function::New<CreateTicketKeys>(env, "createTicketKeys"));
  exports.Set("makeDevCertificate",
              Napi::Function::New<MakeDevCertificate>(env, "makeDevCertificate"));
  exports.Set("watchSignal", Napi::Function::New<WatchSignal>(env, "watchSignal"));
  exports.Set("hasHttp2", Napi::Boolean::New(env, HasHttp2()));
}

// Gives JavaScript the results of registrations that other members had to decide on.
void EngineWrap::DeliverResults() {
  RegistrationResult result;
  while (backend_ != nullptr && backend_->TakeResult(&result)) {
    napi_env env = Env();
    const Napi::HandleScope scope(env);
    napi_value argument = ResultObject(env, result);
    napi_value receiver;
    napi_get_global(env, &receiver);
    if (registered_.IsEmpty() || napi_make_callback(env, nullptr, receiver, registered_.Value(), 1,
                                                    &argument, nullptr) == napi_ok) {
      continue;
    }
    bool is_pending = false;
    napi_is_exception_pending(env, &is_pending);
    if (!is_pending) {
      // The environment is being terminated, so nobody has taken the sockets.
      for (const int fd : result.sockets) close(fd);
      return;
    }
    napi_value error;
    if (napi_get_and_clear_last_exception(env, &error) != napi_ok) return;
    napi_fatal_exception(env, error);
  }
}

Napi::Value EngineWrap::Listen(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(Number(info, 1));
  const int backlog = static_cast<int>(Number(info, 2));
  const bool may_lend = info[3].ToBoolean();
  const int status =
      backend_ == nullptr ? UV_EBADF : backend_->Listen(Number(info, 0), fd, backlog, may_lend);
  return Napi::Number::New(info.Env(), status);
}

void EngineWrap::StopListening(const Napi::CallbackInfo& info) {
  if (backend_ != nullptr) backend_->StopListening(static_cast<int>(Number(info, 0)));
}

Napi::Value EngineWrap::Adopt(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(Number(info, 1));
  const int status = backend_ == nullptr ? UV_EBADF : backend_->Adopt(Number(info, 0), fd);
  return Napi::Number::New(info.Env(), status);
}

void EngineWrap::Introduce(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr || !info[1].IsString()) return;
  backend_->Introduce(Number(info, 0), info[1].As<Napi::String>());
}

Napi::Value EngineWrap::Meet(const Napi::CallbackInfo& info) {
  Stranger stranger;
  const int found = backend_ == nullptr
                        ? UV_EBADF
                        : backend_->Meet(static_cast<uint16_t>(Number(info, 0)), &stranger);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("found", Napi::Number::New(info.Env(), found));
  result.Set("uid", Napi::Number::New(info.Env(), stranger.uid));
  result.Set("pid", Napi::Number::New(info.Env(), stranger.pid));
  return result;
}

Napi::Value EngineWrap::TakeAlone(const Napi::CallbackInfo& info) {
  const int status =
      backend_ == nullptr ? UV_EBADF : backend_->TakeAlone(static_cast<uint16_t>(Number(info, 0)));
  return Napi::Number::New(info.Env(), status);
}

Napi::Value EngineWrap::Contribute(const Napi::CallbackInfo& info) {
  const int status =
      backend_ == nullptr
          ? UV_EBADF
          : backend_->Contribute(static_cast<uint16_t>(Number(info, 0)), Number(info, 1),
                                 static_cast<int>(Number(info, 2)), info[3].ToBoolean());
  return Napi::Number::New(info.Env(), status);
}

void EngineWrap::Withdraw(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr) return;
  backend_->Withdraw(static_cast<uint16_t>(Number(info, 0)), static_cast<int>(Number(info, 1)));
}

Napi::Value EngineWrap::Sockets(const Napi::CallbackInfo& info) {
  PortSockets there;
  if (backend_ != nullptr) there = backend_->Sockets(static_cast<uint16_t>(Number(info, 0)));
  return SocketsObject(info.Env(), there);
}

Napi::Value EngineWrap::ListenBeside(const Napi::CallbackInfo& info) {
  std::vector<int> narrower;
  const Napi::Array list = info[2].IsArray() ? info[2].As<Napi::Array>() : Napi::Array();
  for (uint32_t i = 0; info[2].IsArray() && i < list.Length(); ++i) {
    const Napi::Value fd = list.Get(i);
    if (fd.IsNumber()) narrower.push_back(fd.As<Napi::Number>().Int32Value());
  }
  const int status = backend_ == nullptr
                         ? UV_EBADF
                         : backend_->ListenBeside(static_cast<uint16_t>(Number(info, 0)),
                                                  static_cast<int>(Number(info, 1)), narrower);
  return Napi::Number::New(info.Env(), status);
}

Napi::Value EngineWrap::Register(const Napi::CallbackInfo& info) {
  Registration wanted;
  if (!info[0].IsObject() || !ReadRegistration(info[0].As<Napi::Object>(), &wanted)) {
    Napi::TypeError::New(info.Env(), "A registration is a Registration")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  RegistrationResult result;
  if (backend_ == nullptr) {
    result.error = EBADF;
  } else if (!backend_->Register(wanted, &result)) {
    return info.Env().Undefined();
  }
  return ResultObject(info.Env(), result);
}

Napi::Value EngineWrap::ChangeTerms(const Napi::CallbackInfo& info) {
  RegistrationResult conflict;
  const bool is_done = backend_ == nullptr ||
                       backend_->ChangeTerms(Number(info, 0), TlsContextOf(info[1]), &conflict);
  return is_done ? info.Env().Undefined() : Napi::Value(ResultObject(info.Env(), conflict));
}

Napi::Value EngineWrap::Unregister(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr || !info[2].IsArray()) return Napi::Boolean::New(info.Env(), false);
  std::vector<uint32_t> ids;
  const Napi::Array list = info[2].As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    const Napi::Value id = list.Get(i);
    if (id.IsNumber()) ids.push_back(id.As<Napi::Number>().Uint32Value());
  }
  const bool has_others = backend_->Unregister(
      static_cast<uint16_t>(Number(info, 0)), Number(info, 1), std::move(ids), Number(info, 3),
      Number(info, 4), info[5].IsBoolean() && info[5].As<Napi::Boolean>());
  return Napi::Boolean::New(info.Env(), has_others);
}

void EngineWrap::Reserve(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr || !info[1].IsArray()) return;
  backend_->Reserve(static_cast<uint16_t>(Number(info, 0)), Strings(info[1].As<Napi::Array>()));
}

void EngineWrap::Leave(const Napi::CallbackInfo& info) {
  if (backend_ != nullptr) backend_->Leave(static_cast<uint16_t>(Number(info, 0)));
}

void EngineWrap::RefuseAbandoned(const Napi::CallbackInfo&) {
  if (backend_ != nullptr) RefuseRest();
}

void EngineWrap::RefuseRest() { backend_->RefuseAbandoned(); }

Napi::Value EngineWrap::TakeRefused(const Napi::CallbackInfo& info) {
  size_t lane;
  const bool is_known = ReadLane(info, &lane) && backend_ != nullptr;
  return Napi::Boolean::New(info.Env(), is_known && backend_->TakeRefused(lane));
}

void EngineWrap::AnswerHello(const Napi::CallbackInfo& info) {
  size_t lane;
  if (!ReadLane(info, &lane) || backend_ == nullptr || !info[2].IsObject()) return;
  backend_->AnswerHello(lane, Number(info, 1), ReadHelloAnswer(info[2].As<Napi::Object>()));
}

Napi::Value EngineWrap::AskTls(const Napi::CallbackInfo& info) {
  size_t lane;
  if (!ReadLane(info, &lane) || backend_ == nullptr) return info.Env().Undefined();
  std::string argument;
  if (info[3].IsTypedArray()) {
    const Napi::Uint8Array bytes = info[3].As<Napi::Uint8Array>();
    argument.assign(bytes.Data(), bytes.Data() + bytes.ByteLength());
  }
  const std::string answer =
      backend_->AskTls(lane, Number(info, 1), Number(info, 2), std::move(argument));
  if (answer.empty()) return info.Env().Undefined();
  return Napi::Buffer<char>::Copy(info.Env(), answer.data(), answer.size());
}

}  // namespace httpsys
