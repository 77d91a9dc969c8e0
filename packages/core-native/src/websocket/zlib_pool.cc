#include "websocket/zlib_pool.h"

#include "base/check.h"
#include "websocket/zlib_state.h"

namespace httpsys::websocket {
namespace {

bool Fits(const ZlibState& state, bool is_deflate, const ZlibParameters& parameters) {
  return state.is_deflate == is_deflate && state.parameters == parameters;
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
    RestoreDictionary(state_, dictionary_.view());
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
  SaveDictionary(state_, &dictionary_);
  pool_->Unlink(state_);
  pool_->Put(state_);
  state_ = nullptr;
}

ZlibPool::ZlibPool(size_t inflaters_max, size_t deflaters_max) {
  inflaters_.count_max = inflaters_max;
  deflaters_.count_max = deflaters_max;
}

ZlibPool::~ZlibPool() {
  HTTPSYS_CHECK(live_states() == 0);
  FreeSpares();
}

void ZlibPool::ReleaseIdle() {
  for (const LiveStates* list : {&inflaters_, &deflaters_}) {
    while (list->oldest != nullptr && list->oldest->turn != turn_) {
      list->oldest->user->StoreDictionary();
    }
  }
  ++turn_;
  FreeSpares();
}

ZlibState* ZlibPool::Get(bool is_deflate, const ZlibParameters& parameters) {
  ZlibState* found = TakeSpare(is_deflate, parameters);
  const LiveStates& list = ListOf(is_deflate);
  if (found == nullptr && list.count >= list.count_max) {
    ZlibState* victim = list.oldest;
    while (victim != nullptr && !Fits(*victim, is_deflate, parameters)) victim = victim->newer;
    if (victim != nullptr) victim->user->StoreDictionary();
    found = TakeSpare(is_deflate, parameters);
  }
  if (found == nullptr) return MakeZlibState(is_deflate, parameters);
  ResetZlibState(found);
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

// Puts a state at the front of the unused ones: a caller may need it again at once. Frees the
// oldest if there are too many.
void ZlibPool::Put(ZlibState* state) {
  state->user = nullptr;
  state->older = spares_;
  spares_ = state;
  if (++spare_count_ <= kSpareStatesMax) return;
  ZlibState* last = state;
  while (last->older->older != nullptr) last = last->older;
  FreeZlibState(last->older);
  last->older = nullptr;
  --spare_count_;
}

void ZlibPool::FreeSpares() {
  while (spares_ != nullptr) {
    ZlibState* const state = spares_;
    spares_ = state->older;
    FreeZlibState(state);
  }
  spare_count_ = 0;
}

void ZlibPool::Link(ZlibState* state) {
  LiveStates& list = ListOf(state->is_deflate);
  state->is_live = true;
  state->turn = turn_;
  state->older = list.newest;
  state->newer = nullptr;
  (list.newest == nullptr ? list.oldest : list.newest->newer) = state;
  list.newest = state;
  if (++list.count > list.count_max) list.oldest->user->StoreDictionary();
}

void ZlibPool::Unlink(ZlibState* state) {
  LiveStates& list = ListOf(state->is_deflate);
  (state->newer == nullptr ? list.newest : state->newer->older) = state->older;
  (state->older == nullptr ? list.oldest : state->older->newer) = state->newer;
  state->newer = nullptr;
  state->older = nullptr;
  state->is_live = false;
  --list.count;
}

}  // namespace httpsys::websocket
