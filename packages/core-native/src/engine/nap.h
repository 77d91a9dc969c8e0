#pragma once

#include <condition_variable>
#include <mutex>

#include "base/contention.h"
#include "engine/connection/attachment.h"

namespace httpsys::engine {

// A lane's short wait for JavaScript to finish its batch. While JavaScript works on a batch, a new
// request would only queue, and replies are about to come: reading sockets together and sending
// replies together costs less than one by one.
class Nap {
 public:
  explicit Nap(const Attachments* attachments) : attachments_(attachments) {}
  Nap& operator=(Nap&&) = delete;

  // Waits up to limits::kNapUs. Returns true if JavaScript has ended the wait. Does not wait if an
  // environment has published replies and is not in a batch, or if naps have been useless lately.
  // Thread: the lane, which must have announced that it sleeps.
  bool Take();
  // True while Take() does not wait, because earlier naps were useless. Thread: the lane.
  bool is_useless() const { return backoff_.is_active(); }
  // If the lane is napping, ends the nap and returns true; returns false otherwise. Thread: any.
  bool End();

 private:
  bool Wait();

  const Attachments* attachments_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_napping_ = false;  // Guarded by mutex_.
  WaitBackoff backoff_;      // Used by the lane only.
};

}  // namespace httpsys::engine
