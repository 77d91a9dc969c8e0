// Watches listeners on Linux. The kernel wakes one of the watching processes (EPOLLEXCLUSIVE).

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptors.h"
#include "engine/accept/listener_poll.h"

namespace httpsys::engine {
namespace {

constexpr int kEventsMax = 64;
constexpr int kSignalKey = 0;

int Add(int epoll_fd, int fd, int key) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLEXCLUSIVE;
  event.data.fd = key;
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

class EpollListenerPoll final : public ListenerPoll {
 public:
  int Open() override {
    signal_fd_ = MoveToOwn(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_fd_ = MoveToOwn(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = kSignalKey;
    const bool is_ready = signal_fd_ != -1 && epoll_fd_ != -1 &&
                          epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, signal_fd_, &event) == 0;
    return is_ready ? 0 : -errno;
  }

  void Close() override {
    for (int* fd : {&signal_fd_, &epoll_fd_}) {
      if (*fd != -1) close(*fd);
      *fd = -1;
    }
  }

  void Signal() override {
    const uint64_t one = 1;
    ssize_t written;
    do {
      written = write(signal_fd_, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
  }

  int Watch(int fd, int key) override { return Add(epoll_fd_, fd, key); }
  void Unwatch(int fd, int) override { UnwatchIn(epoll_fd_, fd); }

  void Wait(std::vector<int>* keys, int timeout_ms) override {
    keys->clear();
    epoll_event events[kEventsMax];
    const int count = epoll_wait(epoll_fd_, events, kEventsMax, timeout_ms);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.fd != kSignalKey) {
        keys->push_back(events[i].data.fd);
        continue;
      }
      uint64_t signals;
      while (read(signal_fd_, &signals, sizeof signals) > 0) {
      }
    }
  }

  void Pause(int timeout_ms) override {
    pollfd signal{signal_fd_, POLLIN, 0};
    poll(&signal, 1, timeout_ms);
  }

  int OpenSet() const override { return MoveToOwn(epoll_create1(EPOLL_CLOEXEC)); }
  int WatchIn(int set, int fd, int key) const override { return Add(set, fd, key); }
  // Remove the descriptor explicitly: close() does not end the watch if another process has a
  // descriptor of the same socket.
  void UnwatchIn(int set, int fd) const override { epoll_ctl(set, EPOLL_CTL_DEL, fd, nullptr); }
  void ReadyIn(int set, std::vector<int>* keys) const override {
    keys->clear();
    epoll_event events[kEventsMax];
    const int count = epoll_wait(set, events, kEventsMax, 0);
    for (int i = 0; i < count; ++i) keys->push_back(events[i].data.fd);
  }

  int Accept(int fd) const override {
    return accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  }

  bool ReadQueue(int fd, size_t* waiting, size_t* room) const override {
    // For a listening socket, the kernel's tcp_get_info() uses these two fields for the queue.
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
    *waiting = info.tcpi_unacked;
    *room = info.tcpi_sacked;
    return true;
  }

  // The locks belong to the process, so its worker threads do not exclude each other.
  bool Lock(int fd, uint8_t byte, bool is_wanted) const override {
    struct flock lock {};
    lock.l_type = is_wanted ? F_WRLCK : F_UNLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(byte);
    lock.l_len = 1;
    return fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
  }

 private:
  int signal_fd_ = -1;
  int epoll_fd_ = -1;
};

}  // namespace

std::unique_ptr<ListenerPoll> MakeListenerPoll() { return std::make_unique<EpollListenerPoll>(); }

}  // namespace httpsys::engine
