#pragma once
// Stops the threads of all engines when the process exits, before libraries clean up.

#include <functional>
#include <map>
#include <mutex>

namespace httpsys::engine {

// process.exit() and an uncaught exception end the process without closing its engines. The
// engines' threads would continue while libraries clean up, and use freed memory: a process with
// handshakes under way died by SIGSEGV in OpenSSL's clean-up. The exit handler that was registered
// last runs first, so the stop is registered again after each library.
class ExitStop {
 public:
  static ExitStop& Instance();

  // -- Thread: any.

  // Must be called when the threads of an engine have started. `stop` must stop them for good.
  void Add(const void* engine, std::function<void()> stop);
  // Must be called when the engine ends its threads itself.
  void Remove(const void* engine);
  // Must be called when an engine begins to use OpenSSL, which was initialised and has registered
  // its clean-up; afterwards the stop runs before that clean-up.
  void RunBeforeOpenSsl();

 private:
  static void StopAll();

  std::mutex mutex_;                                    // Guards everything below.
  std::map<const void*, std::function<void()>> stops_;  // Keyed by engine.
  bool is_registered_ = false;
  bool is_before_open_ssl_ = false;
};

}  // namespace httpsys::engine
