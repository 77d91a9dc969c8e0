// What the kernel alone asks for: answers each read with the same bytes, looks at none of them and
// makes as few system calls as epoll allows. No HTTP server; the row says how far down costs can
// go. Prints its port. Linux.
//
//   floor            one answer to each read
//   floor pipelined  one answer to each request, all of a read in one send. Requests of a
//                    connection are as long as its first one, which is the only one looked at

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

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
constexpr std::string_view kRequestEnd = "\r\n\r\n";
// A read holds fewer requests: wrk's shortest has 35 bytes.
constexpr size_t kAnswersMax = 2048;
constexpr size_t kConnectionsMax = 4096;
constexpr size_t kInputBytes = 64 * 1024;

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

// How much of a connection's requests has been received.
struct Requests {
  // Zero before the end of the first request.
  size_t length = 0;
  // Bytes of a request that has not come whole.
  size_t pending = 0;
};

// Returns how many requests end within the bytes that a read has brought.
size_t CountRequests(Requests* requests, std::string_view input) {
  if (requests->length == 0) {
    const size_t end = input.find(kRequestEnd);
    // wrk writes at least one request at a time, which loopback does not cut.
    if (end == std::string_view::npos) return 0;
    requests->length = end + kRequestEnd.size();
  }
  const size_t bytes = requests->pending + input.size();
  requests->pending = bytes % requests->length;
  return bytes / requests->length;
}

// Returns false when the connection is to be closed. Without `requests` a read has one answer.
bool Answer(int fd, char (&input)[kInputBytes], std::string_view responses, Requests* requests) {
  const ssize_t got = recv(fd, input, sizeof input, 0);
  if (got <= 0) return false;
  size_t count = 1;
  if (requests != nullptr) count = CountRequests(requests, {input, static_cast<size_t>(got)});
  if (count == 0) return true;
  return send(fd, responses.data(), count * std::strlen(kResponse), MSG_NOSIGNAL) >= 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_pipelined = argc > 1 && std::string_view(argv[1]) == "pipelined";
  const int listener = Listen();
  if (listener < 0) return 1;
  std::string responses;
  for (size_t i = 0; i < (is_pipelined ? kAnswersMax : 1); ++i) responses += kResponse;
  // By descriptor.
  std::vector<Requests> connections(is_pipelined ? kConnectionsMax : 0);
  const int poll = epoll_create1(0);
  Watch(poll, listener);
  epoll_event events[kEventsMax];
  char input[kInputBytes];
  for (;;) {
    const int count = epoll_wait(poll, events, kEventsMax, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener) {
        Accept(poll, listener);
      } else if (!Answer(fd, input, responses, is_pipelined ? &connections.at(fd) : nullptr)) {
        if (is_pipelined) connections[fd] = {};
        close(fd);
      }
    }
  }
}
