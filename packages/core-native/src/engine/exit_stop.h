#pragma once
// Stops the threads of all engines when the process exits, before libraries clean up.

#include <functional>
#include <map>
#include <mutex>

namespace httpsys::engine {

// process.exit() and an uncaught exception end the process without closing its engines. Their
// threads would run on while the libraries clean up, and use what is freed by then: OpenSSL's
// clean-up took a process down with SIGSEGV that had handshakes under way. What is registered last
// runs first at an exit, so the stop is registered behind each library.
class ExitStop {
 public:
  static ExitStop& Instance();

  // -- Thread: any.

  // The threads of an engine have started, and `stop` makes them stand still for ever.
  void Add(const void* engine, std::function<void()> stop);
  // The engine ends its threads itself.
  void Remove(const void* engine);
  // An engine begins to use OpenSSL, which was initialised, and has registered its clean-up.
  void RunBeforeOpenSsl();

 private:
  static void StopAll();

  std::mutex mutex_;                                    // Guards everything below.
  std::map<const void*, std::function<void()>> stops_;  // By engine.
  bool is_registered_ = false;
  bool is_before_open_ssl_ = false;
};

}  // namespace httpsys::engine
