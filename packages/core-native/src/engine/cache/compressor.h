#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>

#include "cache/freshness.h"
#include "engine/cache/process_cache.h"
#include "semantics/content_coding.h"

namespace httpsys::engine {

// Makes compressed variants of stored responses, one at a time, on a thread that runs only while
// there is work. A variant is stored beside its response, under a separate key, and has the stamp
// of the entry from which it was made: once that entry is replaced, confirmed, invalidated or
// flushed, no reader of any process uses the variant. Thread: any.
class Compressor {
 public:
  // Maximum length of the queue. Add() ignores further variants; a later use orders them again.
  static constexpr size_t kQueueMax = 64;

  Compressor() : Compressor(&ProcessCache::Instance()) {}
  explicit Compressor(ProcessCache* cache) : cache_(cache) {}
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  // Waits until the present variant is finished.
  ~Compressor();

  static Compressor& Instance();

  // Orders a variant of the entry with this key and these terms. Does nothing if it is ordered
  // already, or if the queue is full. Does not wait.
  void Add(const std::string& key, const cache::EntryTerms& plain, semantics::ContentCoding coding);
  // Waits until all orders are done. For tests.
  void WaitUntilIdle();

 private:
  struct Job {
    std::string key;  // Key of the plain entry.
    std::string coded_key;
    cache::EntryTerms plain;
    semantics::ContentCoding coding = semantics::ContentCoding::kIdentity;
  };
  // The thread's mapping of the cache, and its buffer for copies of entries.
  struct Reader {
    ProcessCache::Mapping mapping;
    cache::CopyBuffer buffer;
  };

  void StartThread();
  void Run();
  void Make(const Job& job, Reader* reader);

  ProcessCache* cache_;
  std::mutex mutex_;
  std::condition_variable is_idle_;
  std::deque<Job> jobs_;
  std::set<std::string> asked_;  // Coded keys of all jobs, including the running one.
  bool is_running_ = false;      // True while the thread exists.
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
