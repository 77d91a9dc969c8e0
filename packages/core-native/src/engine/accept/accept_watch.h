#pragma once
// Lets a lane accept connections itself.
//
// The acceptor's thread saves a lane a quarter of the work for a connection without TLS, and can
// distribute connections among several lanes. With TLS, accepting is small beside the handshake,
// and not worth waking two threads. So if an engine has only one lane, and no other process accepts
// from the socket, the lane watches such listeners in its own loop. The acceptor still owns the
// listeners, and takes them back when other processes start to accept on the port.

#include <uv.h>

#include <functional>
#include <utility>

#include "engine/accept/acceptor.h"

namespace httpsys::engine {

// Thread: the lane.
class AcceptWatch {
 public:
  // Watches the lendable listeners of `acceptor`, which must outlive the loop. `sink` gets the
  // accepted connections; then `done` is called, once for each report of readiness.
  AcceptWatch(Acceptor* acceptor, Acceptor::LentSink sink, std::function<void()> done)
      : acceptor_(acceptor), sink_(std::move(sink)), done_(std::move(done)) {}
  ~AcceptWatch();
  AcceptWatch(const AcceptWatch&) = delete;
  AcceptWatch& operator=(const AcceptWatch&) = delete;

  // Starts to watch. Must be called before the loop runs. Does nothing if the system cannot watch a
  // set of descriptors as one, or has no free descriptor: then the acceptor's thread accepts.
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
