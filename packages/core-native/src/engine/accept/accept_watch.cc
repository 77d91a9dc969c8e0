#include "engine/accept/accept_watch.h"

#include <unistd.h>

namespace httpsys::engine {

AcceptWatch::~AcceptWatch() {
  if (fd_ != -1) close(fd_);
}

void AcceptWatch::Start(uv_loop_t* loop) {
  fd_ = acceptor_->OpenSet();
  if (fd_ == -1 || uv_poll_init(loop, &poll_, fd_) != 0) return;
  poll_.data = this;
  is_started_ = true;
  const int failed = uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
    auto* self = static_cast<AcceptWatch*>(poll->data);
    if (self->acceptor_->AcceptLent(self->sink_)) self->done_();
  });
  if (failed == 0) acceptor_->LendTo(fd_);
}

void AcceptWatch::Close() {
  if (is_started_) uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  is_started_ = false;
}

}  // namespace httpsys::engine
