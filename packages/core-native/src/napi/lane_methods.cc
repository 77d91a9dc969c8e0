#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/limits.h"
#include "napi/arguments.h"
#include "napi/methods.h"

namespace httpsys {
namespace {

// Keeps a lane's memory alive while V8 uses it in an ArrayBuffer.
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

Napi::Value AddReplySegment(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane)) return info.Env().Undefined();
  if (!info[1].IsTypedArray() || info[1].As<Napi::Uint8Array>().ByteLength() % 8 != 0) {
    Napi::TypeError::New(info.Env(), "A reply segment is a Uint8Array of a multiple of 8 bytes")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  if (engine.backend() == nullptr) return Napi::Number::New(info.Env(), 0);
  engine.Keep(info[1]);
  const uint32_t id =
      engine.backend()->AddReplySegment(lane, MemoryOf(info[1].As<Napi::Uint8Array>()));
  return Napi::Number::New(info.Env(), id);
}

// The block's memory stays valid: JavaScript's dispatch function references it, and outlives the
// lanes' threads.
Napi::Value SendBlock(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane)) return info.Env().Undefined();
  if (!info[1].IsTypedArray()) {
    Napi::TypeError::New(info.Env(), "A block is a Uint8Array").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  if (engine.backend() == nullptr) return Napi::Number::New(info.Env(), 0);
  const Napi::Uint8Array array = info[1].As<Napi::Uint8Array>();
  const uint32_t id = engine.backend()->lent(lane).Lend(array.Data(), array.ByteLength());
  return Napi::Number::New(info.Env(), id);
}

Napi::Value SendFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane) || engine.backend() == nullptr) return info.Env().Undefined();
  if (!info[1].IsNumber() || !info[2].IsNumber() || !info[3].IsNumber()) {
    return info.Env().Undefined();
  }
  const int64_t start = info[2].As<Napi::Number>();
  const int64_t bytes = info[3].As<Napi::Number>();
  if (start < 0 || bytes <= 0) return info.Env().Undefined();
  const int64_t id = engine.backend()->SendFile(
      lane, Descriptor(info[1].As<Napi::Number>().Int32Value()), Number(info, 4),
      static_cast<uint64_t>(start), static_cast<uint64_t>(bytes));
  return Napi::Number::New(info.Env(), static_cast<double>(id));
}

Napi::Value TakeBlock(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane)) return info.Env().Undefined();
  Block block;
  if (engine.backend() != nullptr)
    block = engine.backend()->requests(lane).blocks().Take(Number(info, 1));
  if (block.memory == nullptr) return info.Env().Undefined();
  auto lease =
      std::make_unique<Lease>(engine.backend()->requests(lane).block_pool(), block.capacity);
  napi_value buffer;
  const napi_status status = napi_create_external_arraybuffer(
      info.Env(), block.memory.get(), block.bytes, Lease::End, lease.get(), &buffer);
  if (status == napi_ok) {
    (void)block.memory.release();
    (void)lease.release();
    return {info.Env(), buffer};
  }
  // V8 accepts no external memory: a runtime without it gets a copy, and an environment that is
  // being terminated gets nothing.
  void* copy = nullptr;
  if (napi_create_arraybuffer(info.Env(), block.bytes, &copy, &buffer) != napi_ok) {
    return info.Env().Undefined();
  }
  std::memcpy(copy, block.memory.get(), block.bytes);
  return {info.Env(), buffer};
}

void CopyBlock(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane) || engine.backend() == nullptr) return;
  if (!info[2].IsTypedArray()) {
    Napi::TypeError::New(info.Env(), "A block is copied into a Uint8Array")
        .ThrowAsJavaScriptException();
    return;
  }
  auto into = info[2].As<Napi::Uint8Array>();
  const Block block = engine.backend()->requests(lane).blocks().Take(Number(info, 1));
  if (block.memory == nullptr) return;
  std::memcpy(into.Data(), block.memory.get(), std::min(block.bytes, into.ByteLength()));
}

static_assert(records::kBlockBytes == limits::kBlockBytes);
static_assert(records::kReceiveBlocksMax == limits::kReceiveBlocksMax);

void LendBlock(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane) || engine.backend() == nullptr) return;
  if (!info[2].IsTypedArray() ||
      info[2].As<Napi::Uint8Array>().ByteLength() != limits::kBlockBytes) {
    Napi::TypeError::New(info.Env(), "A lent block is a Uint8Array of kBlockBytes")
        .ThrowAsJavaScriptException();
    return;
  }
  engine.backend()->requests(lane).receive_blocks().Lend(Number(info, 1),
                                                         info[2].As<Napi::Uint8Array>().Data());
}

void Wake(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (engine.ReadLane(info, &lane) && engine.backend() != nullptr) engine.backend()->Wake(lane);
}

void OpenTurn(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (engine.ReadLane(info, &lane)) engine.dispatch().OpenTurn(lane);
}

Napi::Value HasUnread(EngineWrap& engine, const Napi::CallbackInfo& info) {
  bool has_unread = false;
  RequestQueue::Region region;
  for (size_t lane = 0; engine.backend() != nullptr && lane < engine.backend()->lane_count();
       ++lane) {
    has_unread = has_unread || engine.backend()->requests(lane).Next(&region);
  }
  return Napi::Boolean::New(info.Env(), has_unread);
}

}  // namespace

std::vector<EngineMethod> LaneMethods() {
  return {
      EngineWrap::Method<AddReplySegment>("addReplySegment"),
      EngineWrap::Method<SendBlock>("sendBlock"),
      EngineWrap::Method<SendFile>("sendFile"),
      EngineWrap::Method<TakeBlock>("takeBlock"),
      EngineWrap::Method<CopyBlock>("copyBlock"),
      EngineWrap::Method<LendBlock>("lendBlock"),
      EngineWrap::Method<Wake>("wake"),
      EngineWrap::Method<OpenTurn>("openTurn"),
      EngineWrap::Method<HasUnread>("hasUnread"),
  };
}

}  // namespace httpsys
