#include "websocket/zlib_pool.h"

#include <algorithm>

#include "common/check.h"
#include "websocket/zlib_state.h"

namespace httpsys::websocket {
namespace {

ZlibState* MakeState(bool is_deflate, const ZlibParameters& parameters) {
  auto* state = new ZlibState;
  state->is_deflate = is_deflate;
  state->parameters = parameters;
  // Negative bits: without zlib's own header. 8 bits: see ZlibParameters.
  const int bits = parameters.window_bits;
  const int result =
      is_deflate ? deflateInit2(&state->stream, parameters.level, Z_DEFLATED, -std::max(bits, 9),
                                parameters.mem_level, parameters.strategy)
                 : inflateInit2(&state->stream, -bits);
  if (result == Z_OK) return state;
  delete state;
  return nullptr;
}

void FreeState(ZlibState* state) {
  if (state->is_deflate) {
    deflateEnd(&state->stream);
  } else {
    inflateEnd(&state->stream);
  }
  delete state;
}

bool Fits(const ZlibState& state, bool is_deflate, const ZlibParameters& parameters) {
  return state.is_deflate == is_deflate && state.parameters == parameters;
}

void Restart(ZlibState* state) {
  const int result =
      state->is_deflate ? deflateReset(&state->stream) : inflateReset(&state->stream);
  HTTPSYS_CHECK(result == Z_OK);
}

void SetDictionary(ZlibState* state, ByteBuffer* dictionary) {
  const auto* bytes = reinterpret_cast<const Bytef*>(dictionary->data());
  const auto size = static_cast<uInt>(dictionary->size());
  const int result = state->is_deflate ? deflateSetDictionary(&state->stream, bytes, size)
                                       : inflateSetDictionary(&state->stream, bytes, size);
  HTTPSYS_CHECK(result == Z_OK);
}

int GetDictionary(ZlibState* state, char* out, uInt* size) {
  auto* bytes = reinterpret_cast<Bytef*>(out);
  return state->is_deflate ? deflateGetDictionary(&state->stream, bytes, size)
                           : inflateGetDictionary(&state->stream, bytes, size);
}

}  // namespace

ZlibUser::~ZlibUser() { Drop(); }

void ZlibUser::Release() {
  if (state_ != nullptr && state_->is_live) StoreDictionary();
}

ZlibState* ZlibUser::Acquire() {
  if (state_ == nullptr) {
    state_ = pool_->Get(is_deflate_, parameters_);
    if (state_ == nullptr) return nullptr;
    state_->user = this;
    if (!dictionary_.empty()) SetDictionary(state_, &dictionary_);
    dictionary_.Reset();
  } else if (state_->is_live) {
    pool_->Unlink(state_);
  }
  return state_;
}

void ZlibUser::EndMessage(bool can_be_dictionary) {
  if (state_ == nullptr || state_->is_live) return;
  if (!takes_over_) {
    Drop();
  } else if (can_be_dictionary) {
    pool_->Link(state_);
  }
}

void ZlibUser::Drop() {
  dictionary_.Reset();
  if (state_ == nullptr) return;
  if (state_->is_live) pool_->Unlink(state_);
  pool_->Put(state_);
  state_ = nullptr;
}

void ZlibUser::StoreDictionary() {
  HTTPSYS_CHECK(state_ != nullptr && state_->is_live);
  uInt size = 0;
  HTTPSYS_CHECK(GetDictionary(state_, nullptr, &size) == Z_OK);
  if (size > 0) {
    HTTPSYS_CHECK(GetDictionary(state_, dictionary_.Reserve(size), &size) == Z_OK);
    dictionary_.Grow(size);
  }
  pool_->Unlink(state_);
  pool_->Put(state_);
  state_ = nullptr;
}

ZlibPool::~ZlibPool() {
  HTTPSYS_CHECK(newest_ == nullptr);
  FreeSpares();
}

void ZlibPool::ReleaseIdle() {
  while (oldest_ != nullptr && oldest_->turn != turn_) oldest_->user->StoreDictionary();
  ++turn_;
  FreeSpares();
}

ZlibState* ZlibPool::Get(bool is_deflate, const ZlibParameters& parameters) {
  ZlibState* found = TakeSpare(is_deflate, parameters);
  if (found == nullptr && live_ >= live_max_) {
    ZlibState* victim = oldest_;
    while (victim != nullptr && !Fits(*victim, is_deflate, parameters)) victim = victim->newer;
    if (victim != nullptr) victim->user->StoreDictionary();
    found = TakeSpare(is_deflate, parameters);
  }
  if (found == nullptr) return MakeState(is_deflate, parameters);
  Restart(found);
  return found;
}

ZlibState* ZlibPool::TakeSpare(bool is_deflate, const ZlibParameters& parameters) {
  for (ZlibState** at = &spares_; *at != nullptr; at = &(*at)->older) {
    ZlibState* const state = *at;
    if (!Fits(*state, is_deflate, parameters)) continue;
    *at = state->older;
    state->older = nullptr;
    --spare_count_;
    return state;
  }
  return nullptr;
}

// The newest spare stays, so that who puts one there finds it.
void ZlibPool::Put(ZlibState* state) {
  state->user = nullptr;
  state->older = spares_;
  spares_ = state;
  if (++spare_count_ <= kSpareStatesMax) return;
  ZlibState* last = state;
  while (last->older->older != nullptr) last = last->older;
  FreeState(last->older);
  last->older = nullptr;
  --spare_count_;
}

void ZlibPool::FreeSpares() {
  while (spares_ != nullptr) {
    ZlibState* const state = spares_;
    spares_ = state->older;
    FreeState(state);
  }
  spare_count_ = 0;
}

void ZlibPool::Link(ZlibState* state) {
  state->is_live = true;
  state->turn = turn_;
  state->older = newest_;
  state->newer = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->newer) = state;
  newest_ = state;
  if (++live_ > live_max_) oldest_->user->StoreDictionary();
}

void ZlibPool::Unlink(ZlibState* state) {
  (state->newer == nullptr ? newest_ : state->newer->older) = state->older;
  (state->older == nullptr ? oldest_ : state->older->newer) = state->newer;
  state->newer = nullptr;
  state->older = nullptr;
  state->is_live = false;
  --live_;
}

}  // namespace httpsys::websocket
