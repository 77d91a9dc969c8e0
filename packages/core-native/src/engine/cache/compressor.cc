#include "engine/cache/compressor.h"

#include <pthread.h>

#include <utility>

#include "base/process.h"
#include "base/seeded_hash.h"
#include "base/thread.h"
#include "cache/coding_policy.h"
#include "encoders/encode.h"
#include "engine/cache/stored_head.h"

namespace httpsys::engine {

Compressor& Compressor::Instance() { return OfProcess<Compressor>(); }

Compressor::~Compressor() {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  is_idle_.wait(lock, [this] { return !is_running_; });
}

void Compressor::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  is_idle_.wait(lock, [this] { return !is_running_; });
}

void Compressor::Add(const std::string& key, const cache::EntryTerms& plain,
                     semantics::ContentCoding coding) {
  Job job{key, key, plain, coding};
  cache::MakeCodedKey(coding, &job.coded_key);
  const std::scoped_lock lock(mutex_);
  if (jobs_.size() >= kQueueMax || is_closed_ || !asked_.insert(job.coded_key).second) return;
  jobs_.push_back(std::move(job));
  if (!std::exchange(is_running_, true)) StartThread();
}

// mutex_ must be held.
void Compressor::StartThread() {
  const SignalsBlocked blocked;
  const auto run = [](void* self) -> void* {
    SetThreadName("httpsys coding");
    static_cast<Compressor*>(self)->Run();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, this) == 0) {
    pthread_detach(thread);
    return;
  }
  // No thread could be started. Drop the jobs; the next request for an entry orders them again.
  is_running_ = false;
  jobs_.clear();
  asked_.clear();
}

void Compressor::Run() {
  Reader reader;
  std::unique_lock lock(mutex_);
  while (!jobs_.empty() && !is_closed_) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    Make(job, &reader);
    lock.lock();
    asked_.erase(job.coded_key);
  }
  // Unmap first: when is_running_ is false, a waiting caller may destroy the cache.
  reader.mapping = {};
  is_running_ = false;
  is_idle_.notify_all();
}

void Compressor::Make(const Job& job, Reader* reader) {
  if (reader->mapping.version != cache_->version()) cache_->Map(&reader->mapping);
  const cache::ArenaReader* const arena = reader->mapping.reader.get();
  if (arena == nullptr) return;
  cache::FoundEntry found;
  const cache::FindResult result =
      arena->Find(job.key, HashText(job.key, arena->seed()), &reader->buffer, &found);
  if (result != cache::FindResult::kHit || found.entry.kind != cache::EntryKind::kResponse ||
      !cache::IsVariantOf(job.plain, found.entry.terms) ||
      found.body.size() <= cache::kCodedGainMin) {
    return;
  }
  const std::string body =
      encoders::Encode(job.coding, found.body, found.body.size() - cache::kCodedGainMin);
  std::string head;
  if (!body.empty()) {
    AppendCodedHead(found.head, semantics::CodingName(job.coding), body.size(), &head);
  }
  cache_->StoreCoded({job.key, job.coding, &found.entry, head, body});
}

}  // namespace httpsys::engine
