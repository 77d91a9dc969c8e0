#pragma once
// A lane that accepts connections itself.
//
// For a connection without TLS the acceptor's thread does a quarter of the work, and it can give
// connections to several lanes. For a connection with TLS, accepting is small beside the handshake,
// and not worth waking two threads. So the only lane of an engine watches such listeners in its own
// loop, if no other process accepts from the socket. The acceptor still owns the listeners, and
// takes them back when other processes start to accept on the port.

#include <uv.h>

#include <functional>
#include <utility>

#include "engine/accept/acceptor.h"

namespace httpsys::engine {

// Thread: the lane.
class AcceptWatch {
 public:
  // Watches the lendable listeners of `acceptor`, which must outlive the loop. `sink` gets the
  // accepted connections; then `done` is called, once per readiness.
  AcceptWatch(Acceptor* acceptor, Acceptor::LentSink sink, std::function<void()> done)
      : acceptor_(acceptor), sink_(std::move(sink)), done_(std::move(done)) {}
  ~AcceptWatch();
  AcceptWatch(const AcceptWatch&) = delete;
  AcceptWatch& operator=(const AcceptWatch&) = delete;

  // Starts to watch. Must be called before the loop runs. Has no effect if the system cannot watch
  // a set of descriptors as one, or has no descriptor left: the acceptor's thread then accepts.
  void Start(uv_loop_t* loop);
  // Stops watching. The loop frees the handle in its next iteration.
  void Close();

 private:
  Acceptor* const acceptor_;
  const Acceptor::LentSink sink_;
  const std::function<void()> done_;
  uv_poll_t poll_;
  bool is_started_ = false;
  int fd_ = -1;
};

}  // namespace httpsys::engine
