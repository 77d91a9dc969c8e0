// Watches listeners with poll(2), on every system. A connection wakes all watching processes.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "engine/accept/listener_poll.h"
#include "engine/connection/connected_socket.h"

namespace httpsys::engine {
namespace {

class PortableListenerPoll final : public ListenerPoll {
 public:
  int Open() override {
    int ends[2];
    if (pipe(ends) != 0) return -errno;
    read_fd_ = ends[0];
    write_fd_ = ends[1];
    for (const int fd : ends) {
      SetCloseOnExec(fd);
      fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    return 0;
  }

  void Close() override {
    for (int* fd : {&read_fd_, &write_fd_}) {
      if (*fd != -1) close(*fd);
      *fd = -1;
    }
    const std::lock_guard lock(mutex_);
    watched_.clear();
  }

  void Signal() override {
    const char one = 1;
    ssize_t written;
    do {
      written = write(write_fd_, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
  }

  int Watch(int fd, int key) override {
    {
      const std::lock_guard lock(mutex_);
      watched_.push_back({fd, key});
    }
    Signal();
    return 0;
  }

  void Unwatch(int, int key) override {
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(watched_, [=](const Watched& each) { return each.key == key; });
    }
    Signal();
  }

  void Wait(std::vector<int>* keys, int timeout_ms) override {
    keys->clear();
    std::vector<Watched> watched;
    {
      const std::lock_guard lock(mutex_);
      watched = watched_;
    }
    std::vector<pollfd> polled{{read_fd_, POLLIN, 0}};
    for (const Watched& each : watched) polled.push_back({each.fd, POLLIN, 0});
    if (poll(polled.data(), static_cast<nfds_t>(polled.size()), timeout_ms) <= 0) return;
    for (size_t i = 0; i < watched.size(); ++i) {
      if (polled[i + 1].revents != 0) keys->push_back(watched[i].key);
    }
    char signals[64];
    while (read(read_fd_, signals, sizeof signals) > 0) {
    }
  }

  void Pause(int timeout_ms) override {
    pollfd signal{read_fd_, POLLIN, 0};
    poll(&signal, 1, timeout_ms);
  }

  int OpenSet() const override { return -1; }
  int WatchIn(int, int, int) const override { return -ENOSYS; }
  void UnwatchIn(int, int) const override {}
  void ReadyIn(int, std::vector<int>* keys) const override { keys->clear(); }

  int Accept(int fd) const override {
    const int accepted = accept(fd, nullptr, nullptr);
    if (accepted == -1) return -1;
    SetCloseOnExec(accepted);
    fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) | O_NONBLOCK);
    return accepted;
  }

  bool ReadQueue(int, size_t*, size_t*) const override { return false; }
  bool Lock(int, uint8_t, bool) const override { return true; }

 private:
  struct Watched {
    int fd;
    int key;
  };

  int read_fd_ = -1;
  int write_fd_ = -1;
  std::mutex mutex_;
  std::vector<Watched> watched_;  // Guarded by mutex_.
};

}  // namespace

std::unique_ptr<ListenerPoll> MakePortableListenerPoll() {
  return std::make_unique<PortableListenerPoll>();
}

}  // namespace httpsys::engine
