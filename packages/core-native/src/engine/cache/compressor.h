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

// Makes compressed variants of stored responses, one at a time, on a thread that exists while there
// is something to do. A variant is stored beside its response, under a key of its own, and has the
// stamp of the entry from which it was made: once that entry is replaced, confirmed, invalidated or
// flushed, no reader of any process uses the variant. Thread: any.
class Compressor {
 public:
  // Maximum number of variants that wait to be made. Add() ignores further ones; a later use of the
  // entry asks again.
  static constexpr size_t kQueueMax = 64;

  // Makes variants for the cache of the process.
  Compressor() : Compressor(&ProcessCache::Instance()) {}
  explicit Compressor(ProcessCache* cache) : cache_(cache) {}
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  // Waits for the variant that is being made.
  ~Compressor();

  // The compressor of the process.
  static Compressor& Instance();

  // Asks for a variant of the entry with this key and these terms. Does nothing if the same was
  // asked for and is not done, or if the queue is full. Does not wait.
  void Add(const std::string& key, const cache::EntryTerms& plain, semantics::ContentCoding coding);
  // Waits until everything that was asked for is done. For tests.
  void WaitUntilIdle();

 private:
  struct Job {
    std::string key;  // Key of the plain entry.
    std::string coded_key;
    cache::EntryTerms plain;
    semantics::ContentCoding coding = semantics::ContentCoding::kIdentity;
  };
  // Memory by which the thread reads entries.
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
