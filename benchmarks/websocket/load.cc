// WebSocket clients for the scenario "websocket": one thread, epoll, frames that were made (masked,
// and compressed) before the first one is sent, so that the server is what is measured.
//
//   load echo|broadcast <port> <connections> <message bytes> text|binary plain|deflate
//
// Prints one line of JSON when all connections are open, and one for each command on its input:
//
//   run <seconds>   echo: a message is under way on each connection; broadcast: the first
//                   connection sends, and what comes back on all of them is counted
//   once            one message on each connection (echo), or one broadcast
//
// The first answers of each connection are compared with what was sent (inflated, where that was
// negotiated); of later ones only the lengths are looked at. Any violation ends the program. Linux.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEventsMax = 1024;
constexpr size_t kReadSize = 256 * 1024;
constexpr size_t kHandshakeMax = 8 * 1024;
/// Messages that are sent in turn: with permessage-deflate each one refers to those before it.
constexpr size_t kMessages = 32;
/// Of this size and more one message is enough.
constexpr size_t kLargeMessage = 64 * 1024;
constexpr uint8_t kMask[4] = {0x37, 0xfa, 0x21, 0x3d};
constexpr uint64_t kBroadcastsUnderWay = 2;
constexpr int kMemoryLevel = 8;

enum Opcode : uint8_t { kText = 1, kBinary = 2 };

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "load: %s (%s)\n", what, std::strerror(errno));
  std::exit(1);
}

struct Options {
  bool broadcast;
  uint16_t port;
  size_t connections;
  size_t size;
  bool binary;
  bool deflate;
};

struct Message {
  std::string data;
  std::string frame;
};

struct Connection {
  int fd = -1;
  size_t next = 0;                   // which message it sends next
  const std::string* out = nullptr;  // the frame that is being sent
  size_t out_at = 0;
  bool waits_for_room = false;
  uint64_t received = 0;  // messages
  uint8_t header[10] = {};
  size_t header_size = 0;
  uint64_t payload_left = 0;
  bool in_payload = false;
  std::string message;  // kept only while it is to be compared
  std::unique_ptr<z_stream> inflater;
};

std::string TextOf(size_t size, size_t index) {
  static constexpr const char* kWords[] = {"alpha", "bravo", "chat", "delta", "echo", "room"};
  std::string text = "{\"id\":" + std::to_string(1000 + index) + ",\"text\":\"";
  for (size_t word = index; text.size() + 2 < size; word = word * 7 + 3) {
    text += kWords[word % std::size(kWords)];
    text += ' ';
  }
  text.resize(size - 2);
  return text + "\"}";
}

std::string BytesOf(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

std::string FrameOf(const std::string& payload, uint8_t first) {
  std::string frame(1, static_cast<char>(first));
  const size_t size = payload.size();
  int length_bytes = 0;
  if (size < 126) {
    frame += static_cast<char>(0x80 | size);
  } else {
    length_bytes = size < 65536 ? 2 : 8;
    frame += static_cast<char>(0x80 | (length_bytes == 2 ? 126 : 127));
  }
  for (int i = length_bytes - 1; i >= 0; --i) frame += static_cast<char>(size >> (8 * i));
  frame.append(reinterpret_cast<const char*>(kMask), sizeof kMask);
  for (size_t i = 0; i < size; ++i) frame += static_cast<char>(payload[i] ^ kMask[i % 4]);
  return frame;
}

/// One message of a compressed stream, as RFC 7692 wants it: without the empty block at its end.
std::string Deflate(z_stream* stream, const std::string& data) {
  std::string out(deflateBound(stream, data.size()) + 16, '\0');
  stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream->avail_in = static_cast<uInt>(data.size());
  stream->next_out = reinterpret_cast<Bytef*>(out.data());
  stream->avail_out = static_cast<uInt>(out.size());
  if (deflate(stream, Z_SYNC_FLUSH) != Z_OK || stream->avail_in != 0) Fail("deflate");
  out.resize(out.size() - stream->avail_out - 4);
  return out;
}

std::vector<Message> MakeMessages(const Options& options) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    Fail("deflateInit2");
  }
  const uint8_t first = 0x80 | (options.deflate ? 0x40 : 0) | (options.binary ? kBinary : kText);
  std::vector<Message> messages(options.size < kLargeMessage ? kMessages : 1);
  for (size_t i = 0; i < messages.size(); ++i) {
    std::string data = options.binary ? BytesOf(options.size) : TextOf(options.size, i);
    messages[i].frame = FrameOf(options.deflate ? Deflate(&stream, data) : data, first);
    messages[i].data = std::move(data);
  }
  deflateEnd(&stream);
  return messages;
}

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options), messages_(MakeMessages(options)), connections_(options.connections) {
    poll_ = epoll_create1(0);
    for (Connection& connection : connections_) Open(&connection);
  }

  /// Sends until the deadline, then waits for what is under way. Prints what arrived.
  void Run(double seconds) {
    const auto start = Clock::now();
    const auto deadline =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    received_ = 0;
    is_sending_ = true;
    if (options_.broadcast) {
      sent_ = 0;
      for (uint64_t i = 0; i < (seconds > 0 ? kBroadcastsUnderWay : 1); ++i) SendBroadcast();
    } else {
      sent_ = 0;
      for (Connection& connection : connections_) Send(&connection);
    }
    if (seconds <= 0) is_sending_ = false;
    epoll_event events[kEventsMax];
    while (received_ < Expected()) {
      const int count = epoll_wait(poll_, events, kEventsMax, -1);
      if (is_sending_ && Clock::now() >= deadline) is_sending_ = false;
      for (int i = 0; i < count; ++i) {
        auto* connection = static_cast<Connection*>(events[i].data.ptr);
        if (events[i].events & EPOLLOUT) Flush(connection);
        if (events[i].events & ~EPOLLOUT) Read(connection);
      }
    }
    const std::chrono::duration<double> taken = Clock::now() - start;
    std::printf("{\"messages\":%llu,\"bytes\":%llu,\"seconds\":%.6f}\n",
                static_cast<unsigned long long>(received_),
                static_cast<unsigned long long>(received_ * options_.size), taken.count());
    std::fflush(stdout);
  }

 private:
  uint64_t Expected() const { return options_.broadcast ? sent_ * connections_.size() : sent_; }

  void Open(Connection* connection) {
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(options_.port);
    if (connection->fd < 0 ||
        connect(connection->fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      Fail("connect");
    }
    const int on = 1;
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Shake(connection->fd);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    if (epoll_ctl(poll_, EPOLL_CTL_ADD, connection->fd, &event) != 0) Fail("epoll_ctl");
    if (!options_.deflate) return;
    connection->inflater = std::make_unique<z_stream>();
    if (inflateInit2(connection->inflater.get(), -MAX_WBITS) != Z_OK) Fail("inflateInit2");
  }

  /// Nothing follows the answer: the server speaks when it is spoken to.
  void Shake(int fd) {
    std::string request =
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    if (options_.deflate) request += "Sec-WebSocket-Extensions: permessage-deflate\r\n";
    request += "\r\n";
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      Fail("send");
    }
    std::string answer;
    while (answer.find("\r\n\r\n") == std::string::npos && answer.size() < kHandshakeMax) {
      char piece[1024];
      const ssize_t count = recv(fd, piece, sizeof piece, 0);
      if (count <= 0) Fail("the connection ended in the handshake");
      answer.append(piece, static_cast<size_t>(count));
    }
    const bool has_extension = answer.find("permessage-deflate") != std::string::npos;
    if (answer.rfind("HTTP/1.1 101", 0) != 0 || has_extension != options_.deflate) {
      std::fprintf(stderr, "%s", answer.c_str());
      Fail("the handshake was not answered as expected");
    }
  }

  void SendBroadcast() { Send(&connections_.front()); }

  void Send(Connection* connection) {
    if (connection->out != nullptr) Fail("a message before the one before it was sent");
    connection->out = &messages_[connection->next].frame;
    connection->out_at = 0;
    connection->next = (connection->next + 1) % messages_.size();
    ++sent_;
    Flush(connection);
  }

  void Flush(Connection* connection) {
    if (connection->out == nullptr) return;
    const std::string& frame = *connection->out;
    const ssize_t count = send(connection->fd, frame.data() + connection->out_at,
                               frame.size() - connection->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN) Fail("send");
    if (count > 0) connection->out_at += static_cast<size_t>(count);
    const bool is_done = connection->out_at == frame.size();
    if (is_done) connection->out = nullptr;
    if (connection->waits_for_room == !is_done) return;
    connection->waits_for_room = !is_done;
    epoll_event event{};
    event.events = static_cast<uint32_t>(EPOLLIN) | (is_done ? 0u : EPOLLOUT);
    event.data.ptr = connection;
    epoll_ctl(poll_, EPOLL_CTL_MOD, connection->fd, &event);
  }

  void Read(Connection* connection) {
    static char input[kReadSize];
    const ssize_t count = recv(connection->fd, input, sizeof input, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) Fail("a connection was closed");
    const auto* at = reinterpret_cast<const uint8_t*>(input);
    const uint8_t* end = at + count;
    while (at < end)
      at = connection->in_payload ? Payload(connection, at, end) : Header(connection, at);
  }

  const uint8_t* Header(Connection* connection, const uint8_t* at) {
    uint8_t* header = connection->header;
    header[connection->header_size++] = *at++;
    if (connection->header_size < 2) return at;
    const size_t wanted = header[1] < 126 ? 2 : header[1] == 126 ? 4 : 10;
    if (connection->header_size < wanted) return at;
    const uint8_t opcode = options_.binary ? kBinary : kText;
    if ((header[0] & 0xbf) != (0x80 | opcode) || (header[1] & 0x80) != 0)
      Fail("an unexpected frame");
    uint64_t length = header[1];
    if (wanted > 2) length = 0;
    for (size_t i = 2; i < wanted; ++i) length = length << 8 | header[i];
    if ((header[0] & 0x40) == 0 && length != options_.size) Fail("a message of another length");
    connection->payload_left = length;
    connection->in_payload = true;
    return length == 0 ? Payload(connection, at, at) : at;
  }

  const uint8_t* Payload(Connection* connection, const uint8_t* at, const uint8_t* end) {
    const uint64_t there = static_cast<uint64_t>(end - at);
    const uint64_t taken = there < connection->payload_left ? there : connection->payload_left;
    if (connection->received < messages_.size()) {
      connection->message.append(reinterpret_cast<const char*>(at), taken);
    }
    connection->payload_left -= taken;
    if (connection->payload_left == 0) Finish(connection);
    return at + taken;
  }

  void Finish(Connection* connection) {
    if (connection->received < messages_.size()) Compare(connection);
    ++connection->received;
    ++received_;
    connection->in_payload = false;
    connection->header_size = 0;
    if (!is_sending_) return;
    if (!options_.broadcast) {
      Send(connection);
    } else if (sent_ * connections_.size() - received_ <=
               (kBroadcastsUnderWay - 1) * connections_.size()) {
      SendBroadcast();
    }
  }

  void Compare(Connection* connection) {
    const bool is_compressed = (connection->header[0] & 0x40) != 0;
    const std::string& expected = messages_[connection->received].data;
    if ((is_compressed ? Inflate(connection) : connection->message) != expected) {
      Fail("a message came back changed");
    }
    connection->message.clear();
    if (connection->received + 1 < messages_.size()) return;
    connection->message.shrink_to_fit();
    if (connection->inflater != nullptr) inflateEnd(connection->inflater.get());
    connection->inflater.reset();
  }

  std::string Inflate(Connection* connection) {
    connection->message.append("\0\0\xff\xff", 4);
    std::string data(options_.size + 1, '\0');
    z_stream* stream = connection->inflater.get();
    stream->next_in = reinterpret_cast<Bytef*>(connection->message.data());
    stream->avail_in = static_cast<uInt>(connection->message.size());
    stream->next_out = reinterpret_cast<Bytef*>(data.data());
    stream->avail_out = static_cast<uInt>(data.size());
    inflate(stream, Z_SYNC_FLUSH);
    data.resize(data.size() - stream->avail_out);
    return data;
  }

  const Options options_;
  const std::vector<Message> messages_;
  std::vector<Connection> connections_;
  int poll_;
  bool is_sending_ = false;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
};

void RaiseDescriptorLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7)
    Fail("usage: load echo|broadcast port connections bytes text|binary plain|deflate");
  RaiseDescriptorLimit();
  const auto connections = static_cast<size_t>(std::atol(argv[3]));
  Load load({std::strcmp(argv[1], "broadcast") == 0, static_cast<uint16_t>(std::atoi(argv[2])),
             connections, static_cast<size_t>(std::atol(argv[4])),
             std::strcmp(argv[5], "binary") == 0, std::strcmp(argv[6], "deflate") == 0});
  std::printf("{\"connections\":%zu}\n", connections);
  std::fflush(stdout);
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    double seconds = 0;
    std::sscanf(line, "run %lf", &seconds);
    load.Run(seconds);
  }
}
