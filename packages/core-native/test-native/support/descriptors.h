#pragma once
// Descriptors of this process, counted to find leaks.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cstdlib>

namespace httpsys::test {

inline int OpenDescriptors() {
  // libuv keeps a pipe from its first loop on.
  [[maybe_unused]] static const bool has_pipe = [] {
    uv_loop_t loop;
    return uv_loop_init(&loop) == 0 && uv_loop_close(&loop) == 0;
  }();
  int count = 0;
  for (int fd = 0; fd < 4096; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) ++count;
  }
  return count;
}

// Two connected, non-blocking stream sockets.
inline std::array<int, 2> SocketPair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    std::abort();
  }
  return ends;
}

// While it lives this process can open so many descriptors more.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit lower = before_;
    lower.rlim_cur = 0;
    for (; more >= 0; ++lower.rlim_cur) {
      if (fcntl(static_cast<int>(lower.rlim_cur), F_GETFD) == -1) --more;
    }
    --lower.rlim_cur;
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace httpsys::test
