#include "engine/exit_stop.h"

#include <utility>

#include "base/process.h"

namespace httpsys::engine {

ExitStop& ExitStop::Instance() { return OfProcess<ExitStop>(); }

void ExitStop::Add(const void* engine, std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  stops_.emplace(engine, std::move(stop));
  if (!is_registered_) is_registered_ = AtExit(StopAll);
}

void ExitStop::Remove(const void* engine) {
  const std::lock_guard lock(mutex_);
  stops_.erase(engine);
}

void ExitStop::RunBeforeOpenSsl() {
  const std::lock_guard lock(mutex_);
  if (!is_before_open_ssl_) is_before_open_ssl_ = AtExit(StopAll);
}

// Exit handler. Runs once for each registration; the first run stops all threads.
void ExitStop::StopAll() {
  ExitStop& self = Instance();
  const std::lock_guard lock(self.mutex_);
  for (const auto& [engine, stop] : std::exchange(self.stops_, {})) stop();
}

}  // namespace httpsys::engine
