#pragma once
// A lane that accepts itself.
//
// The thread that accepts does a quarter of the work for a new connection without TLS, and deals
// connections out to several lanes. Beside a handshake that is not worth the wakes of two threads:
// the only lane of an engine watches such listeners in its own loop, if no other process has given
// it the socket. The acceptor stays their owner, and takes them back when other processes accept on
// the port, too.

#include <uv.h>

#include <functional>
#include <utility>

#include "engine/accept/acceptor.h"

namespace httpsys::engine {

class AcceptWatch {
 public:
  // The listeners of `acceptor`, which outlives the loop. `sink` is Acceptor::LentSink; `done` is
  // called when it has been.
  AcceptWatch(Acceptor* acceptor, Acceptor::LentSink sink, std::function<void()> done)
      : acceptor_(acceptor), sink_(std::move(sink)), done_(std::move(done)) {}
  ~AcceptWatch();
  AcceptWatch(const AcceptWatch&) = delete;
  AcceptWatch& operator=(const AcceptWatch&) = delete;

  // Before the loop runs. Without effect where the system cannot watch a set of descriptors as one,
  // or has no more of them: the acceptor's thread accepts then.
  void Start(uv_loop_t* loop);
  // On the loop's thread; it ends when the handle is closed.
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
