// What the kernel alone asks of a WebSocket server: of a frame only the length and the mask are
// looked at, and its payload goes back as it came, to its sender or to all connections. The
// handshake's answer is that to the one key the load sends. Prints its port. Linux.
//
//   floor echo|broadcast

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr char kSwitching[] =
    "HTTP/1.1 101 Switching Protocols\r\n"
    "Upgrade: websocket\r\n"
    "Connection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    "\r\n";
constexpr int kEventsMax = 1024;
constexpr int kBacklog = 511;
// All that a message of the largest part has: a smaller read frees a window more often, and the
// kernel then does the other side's sending in this process' time.
constexpr size_t kReadSize = 1024 * 1024;
constexpr size_t kHeaderMax = 14;

struct Connection {
  explicit Connection(int socket) : fd(socket) {}

  const int fd;
  bool is_open = false;  // the handshake is over
  uint8_t header[kHeaderMax] = {};
  size_t header_size = 0;
  uint64_t payload_left = 0;
  uint64_t payload_at = 0;
  size_t out_at = 0;  // what of `out` is sent
  std::string out;    // what the socket had no room for; nothing is read meanwhile
};

class Floor {
 public:
  explicit Floor(bool broadcast) : is_broadcast_(broadcast), poll_(epoll_create1(0)) {}

  bool Listen() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || bind(listener_, generic, size) != 0 || listen(listener_, kBacklog) != 0 ||
        getsockname(listener_, generic, &size) != 0) {
      std::perror("floor");
      return false;
    }
    epoll_event event{};
    event.events = EPOLLIN;
    epoll_ctl(poll_, EPOLL_CTL_ADD, listener_, &event);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    return true;
  }

  [[noreturn]] void Run() {
    epoll_event events[kEventsMax];
    for (;;) {
      const int count = epoll_wait(poll_, events, kEventsMax, -1);
      for (int i = 0; i < count; ++i) {
        auto* connection = static_cast<Connection*>(events[i].data.ptr);
        if (connection == nullptr) {
          Accept();
        } else if (events[i].events & EPOLLOUT) {
          Drain(connection);
        } else {
          Read(connection);
        }
      }
    }
  }

 private:
  void Accept() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto* connection = new Connection(fd);
    connections_.push_back(connection);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
  }

  void Read(Connection* connection) {
    // Room before what is read: an answer's header goes there.
    static uint8_t buffer[kHeaderMax + kReadSize];
    const ssize_t count = recv(connection->fd, buffer + kHeaderMax, kReadSize, 0);
    if (count <= 0) {
      close(connection->fd);
      std::erase(connections_, connection);
      delete connection;
      return;
    }
    if (!connection->is_open) {
      connection->is_open = true;
      Send(connection, reinterpret_cast<const uint8_t*>(kSwitching), std::strlen(kSwitching));
      return;
    }
    uint8_t* at = buffer + kHeaderMax;
    uint8_t* end = at + count;
    while (at < end) {
      at = connection->payload_left == 0 ? Header(connection, at) : Payload(connection, at, end);
    }
  }

  static uint8_t* Header(Connection* connection, uint8_t* at) {
    uint8_t* header = connection->header;
    header[connection->header_size++] = *at++;
    if (connection->header_size < 2) return at;
    const size_t code = header[1] & 0x7f;
    const size_t length_bytes = code < 126 ? 0 : code == 126 ? 2 : 8;
    if (connection->header_size < 2 + length_bytes + 4) return at;
    uint64_t length = length_bytes == 0 ? code : 0;
    for (size_t i = 0; i < length_bytes; ++i) length = length << 8 | header[2 + i];
    connection->payload_left = length;
    connection->payload_at = 0;
    return at;
  }

  // By words, as whatever the compiler makes of that.
  static void Unmask(uint8_t* at, uint64_t size, const uint8_t* mask, uint64_t phase) {
    uint8_t turned[sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof turned; ++i) turned[i] = mask[(phase + i) % 4];
    uint64_t key;
    std::memcpy(&key, turned, sizeof key);
    uint64_t i = 0;
    for (; i + sizeof key <= size; i += sizeof key) {
      uint64_t word;
      std::memcpy(&word, at + i, sizeof word);
      word ^= key;
      std::memcpy(at + i, &word, sizeof word);
    }
    for (; i < size; ++i) at[i] ^= turned[i % sizeof key];
  }

  uint8_t* Payload(Connection* connection, uint8_t* at, const uint8_t* end) {
    const auto there = static_cast<uint64_t>(end - at);
    const uint64_t taken = there < connection->payload_left ? there : connection->payload_left;
    const uint8_t* mask = connection->header + connection->header_size - 4;
    Unmask(at, taken, mask, connection->payload_at);
    uint8_t* from = at;
    if (connection->payload_at == 0) {
      const size_t size = connection->header_size - 4;
      from -= size;
      std::memcpy(from, connection->header, size);
      from[1] &= 0x7f;
    }
    connection->payload_at += taken;
    connection->payload_left -= taken;
    if (connection->payload_left == 0) connection->header_size = 0;
    const auto size = static_cast<size_t>(at + taken - from);
    if (is_broadcast_) {
      for (Connection* other : connections_) Send(other, from, size);
    } else {
      Send(connection, from, size);
    }
    return at + taken;
  }

  void Send(Connection* connection, const uint8_t* bytes, size_t size) {
    ssize_t count = 0;
    if (connection->out.empty()) count = send(connection->fd, bytes, size, MSG_NOSIGNAL);
    if (count == static_cast<ssize_t>(size)) return;
    if (count < 0) count = 0;
    const bool was_empty = connection->out.empty();
    connection->out.append(reinterpret_cast<const char*>(bytes) + count,
                           size - static_cast<size_t>(count));
    if (was_empty) Watch(connection, EPOLLOUT);
  }

  void Drain(Connection* connection) {
    std::string& out = connection->out;
    const ssize_t count = send(connection->fd, out.data() + connection->out_at,
                               out.size() - connection->out_at, MSG_NOSIGNAL);
    if (count > 0) connection->out_at += static_cast<size_t>(count);
    if (count < 0 && errno != EAGAIN) connection->out_at = out.size();
    if (connection->out_at < out.size()) return;
    out.clear();
    connection->out_at = 0;
    Watch(connection, EPOLLIN);
  }

  void Watch(Connection* connection, uint32_t what) {
    epoll_event event{};
    event.events = what;
    event.data.ptr = connection;
    epoll_ctl(poll_, EPOLL_CTL_MOD, connection->fd, &event);
  }

  const bool is_broadcast_;
  const int poll_;
  int listener_ = -1;
  std::vector<Connection*> connections_;
};

}  // namespace

int main(int argc, char** argv) {
  Floor floor(argc > 1 && std::strcmp(argv[1], "broadcast") == 0);
  if (!floor.Listen()) return 1;
  floor.Run();
}
