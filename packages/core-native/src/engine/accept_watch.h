#pragma once
// A lane that accepts itself.
//
// The thread that accepts takes a tenth off the lane's work for a connection without TLS, and deals
// connections out to several lanes. Beside a handshake it takes off nothing worth the wakes of two
// threads: the only lane of an engine watches such listeners in its own loop. The acceptor stays
// their owner, and takes them back when other processes accept on the port, too.

#include <uv.h>

#include <functional>
#include <vector>

#include "engine/acceptor.h"

namespace httpsys::engine {

class AcceptWatch {
 public:
  // Called on the loop's thread.
  using Sink = std::function<void(const std::vector<Acceptor::Accepted>& accepted)>;

  // The listeners of `acceptor`, which outlives the loop.
  AcceptWatch(Acceptor* acceptor, Sink sink) : acceptor_(acceptor), sink_(std::move(sink)) {}
  ~AcceptWatch();
  AcceptWatch(const AcceptWatch&) = delete;
  AcceptWatch& operator=(const AcceptWatch&) = delete;

  // Before the loop runs. Without effect where the system cannot watch a set of descriptors as one,
  // or has no more of them: the acceptor's thread accepts then.
  void Start(uv_loop_t* loop);
  // On the loop's thread; it ends when the handle is closed.
  void Close();

 private:
  void OnReadable();

  Acceptor* const acceptor_;
  const Sink sink_;
  uv_poll_t poll_;
  bool is_started_ = false;
  int fd_ = -1;
  std::vector<Acceptor::Accepted> accepted_;
};

}  // namespace httpsys::engine
