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
  // Variants that wait to be made. Whoever asks for more of them at once asks again later.
  static constexpr size_t kQueueMax = 64;

  // For the cache of the process.
  Compressor() : Compressor(&ProcessCache::Instance()) {}
  explicit Compressor(ProcessCache* cache) : cache_(cache) {}
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  // Waits for the variant that is being made.
  ~Compressor();

  // The one of the process.
  static Compressor& Instance();

  // Asks for a variant of the entry with this key and these terms. Does nothing if the same was
  // asked for and is not done, or if the queue is full. Does not wait.
  void Add(const std::string& key, const cache::EntryTerms& plain, semantics::ContentCoding coding);
  // Waits until everything that was asked for is done. For tests.
  void WaitUntilIdle();

 private:
  struct Job {
    std::string key;  // That of the plain entry.
    std::string coded_key;
    cache::EntryTerms plain;
    semantics::ContentCoding coding = semantics::ContentCoding::kIdentity;
  };
  // What the thread needs beside the jobs.
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
  std::set<std::string> asked_;  // The coded keys of the jobs, and of the one that is being done.
  bool is_running_ = false;      // There is a thread.
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
