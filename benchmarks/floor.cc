// What the kernel alone asks for: answers each read with the same bytes, looks at none of them and
// makes as few system calls as epoll allows. No HTTP server; the row says how far down costs can
// go. Prints its port. Linux.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

// As long as what node:http answers to the scenario "hello".
constexpr char kResponse[] =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/plain\r\n"
    "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
    "Connection: keep-alive\r\n"
    "Keep-Alive: timeout=5\r\n"
    "Content-Length: 13\r\n"
    "\r\n"
    "Hello, world!";
constexpr int kEventsMax = 1024;
constexpr int kBacklog = 511;

int Listen() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || bind(listener, generic, size) != 0 || listen(listener, kBacklog) != 0 ||
      getsockname(listener, generic, &size) != 0) {
    std::perror("floor");
    return -1;
  }
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

void Watch(int poll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

void Accept(int poll, int listener) {
  const int connection = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
  if (connection < 0) return;
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Watch(poll, connection);
}

}  // namespace

int main() {
  const int listener = Listen();
  if (listener < 0) return 1;
  const int poll = epoll_create1(0);
  Watch(poll, listener);
  epoll_event events[kEventsMax];
  char input[64 * 1024];
  for (;;) {
    const int count = epoll_wait(poll, events, kEventsMax, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener) {
        Accept(poll, listener);
      } else if (recv(fd, input, sizeof input, 0) <= 0 ||
                 send(fd, kResponse, std::strlen(kResponse), MSG_NOSIGNAL) < 0) {
        close(fd);
      }
    }
  }
}
