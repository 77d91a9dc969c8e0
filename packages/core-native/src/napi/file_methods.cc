#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/descriptors.h"
#include "napi/arguments.h"
#include "napi/methods.h"

namespace httpsys {
namespace {

// Copies the facts about a file into the array that JavaScript has passed. Returns the id.
Napi::Value Tell(Napi::Env env, const KeptFile& kept, const Napi::Value& facts) {
  if (kept.id != 0 && facts.IsTypedArray() && facts.As<Napi::Float64Array>().ElementLength() >= 2) {
    Napi::Float64Array array = facts.As<Napi::Float64Array>();
    array[0] = int{kept.number};
    array[1] = static_cast<double>(kept.bytes);
  }
  return Napi::Number::New(env, kept.id);
}

Napi::Value FindFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  KeptFile kept;
  if (engine.backend() != nullptr && info[0].IsString()) {
    kept = engine.backend()->files().Find(info[0].As<Napi::String>());
  }
  return Tell(info.Env(), kept, info[1]);
}

Napi::Value KeepFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  KeptFile kept;
  if (engine.backend() != nullptr && info[0].IsString() && info[1].IsNumber()) {
    const int given = info[1].As<Napi::Number>().Int32Value();
    const bool is_copied = info[3].ToBoolean();
    const int fd = is_copied ? DuplicateAsOwn(given) : given;
    if (fd >= 0) {
      kept = engine.backend()->files().Keep(info[0].As<Napi::String>(), Descriptor(fd));
      if (is_copied && kept.id == 0) close(fd);
    }
  }
  return Tell(info.Env(), kept, info[2]);
}

Napi::Value PinFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr) return Napi::Number::New(info.Env(), -EBADF);
  return Napi::Number::New(info.Env(), int{engine.backend()->files().Pin(Number(info, 0))});
}

// Returns a descriptor's position, without a request to the file system; 0 if it has no position,
// as a pipe.
Napi::Value PositionOf(EngineWrap&, const Napi::CallbackInfo& info) {
  const off_t at =
      info[0].IsNumber() ? lseek(info[0].As<Napi::Number>().Int32Value(), 0, SEEK_CUR) : -1;
  return Napi::Number::New(info.Env(), at < 0 ? 0 : static_cast<double>(at));
}

// Fills the array that JavaScript passes, completely or not at all. Returns true if it was filled.
Napi::Value ReadFileNow(EngineWrap& engine, const Napi::CallbackInfo& info) {
  bool has_read = false;
  if (engine.backend() != nullptr && info[1].IsNumber() && info[2].IsTypedArray()) {
    const int64_t start = info[1].As<Napi::Number>();
    auto to = info[2].As<Napi::Uint8Array>();
    const std::string bytes = engine.backend()->files().ReadNow(
        Number(info, 0), static_cast<uint64_t>(start), static_cast<uint32_t>(to.ByteLength()));
    has_read = !bytes.empty();
    std::memcpy(to.Data(), bytes.data(), bytes.size());
  }
  return Napi::Boolean::New(info.Env(), has_read);
}

void ReleaseFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() != nullptr) engine.backend()->files().Release(Number(info, 0));
}

}  // namespace

std::vector<EngineMethod> FileMethods() {
  return {
      EngineWrap::Method<FindFile>("findFile"),
      EngineWrap::Method<KeepFile>("keepFile"),
      EngineWrap::Method<PinFile>("pinFile"),
      EngineWrap::Method<PositionOf>("positionOf"),
      EngineWrap::Method<ReadFileNow>("readFileNow"),
      EngineWrap::Method<ReleaseFile>("releaseFile"),
  };
}

}  // namespace httpsys
