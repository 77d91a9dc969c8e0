// Clients with TLS: one request after the other on kept connections, or a connection for each, with
// or without the session of the one before.
//
//   load <keep | full | resumed> <port> <connections> <seconds>
//
// Prints one line of JSON: requests, errors, resumed, seconds, p50, p95, p99 (µs per request,
// connection and handshake included).

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

enum class Mode { kKeep, kFull, kResumed };
enum class State { kConnecting, kHandshake, kReading };

struct Client {
  int fd = -1;
  SSL* ssl = nullptr;
  SSL_SESSION* session = nullptr;
  State state = State::kConnecting;
  uint32_t events = 0;
  std::string answer;
  Clock::time_point began;
};

Mode mode;
sockaddr_in address{};
SSL_CTX* context;
int epoll_fd;
uint64_t requests, errors, resumed;
std::vector<uint32_t> times;

void Watch(Client* client, uint32_t events) {
  if (client->events == events) return;
  epoll_event event{};
  event.events = events;
  event.data.ptr = client;
  epoll_ctl(epoll_fd, client->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, client->fd, &event);
  client->events = events;
}

void Connect(Client* client) {
  client->began = Clock::now();
  client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  client->ssl = SSL_new(context);
  SSL_set_fd(client->ssl, client->fd);
  SSL_set_connect_state(client->ssl);
  SSL_set_tlsext_host_name(client->ssl, "localhost");
  if (mode == Mode::kResumed && client->session != nullptr) {
    SSL_set_session(client->ssl, client->session);
  }
  client->state = State::kConnecting;
  client->answer.clear();
  client->events = 0;
  connect(client->fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  Watch(client, EPOLLOUT);
}

void Drop(Client* client) {
  // Without a goodbye OpenSSL takes the session for a bad one.
  SSL_set_shutdown(client->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(client->ssl);
  close(client->fd);
  client->ssl = nullptr;
}

void Fail(Client* client) {
  ++errors;
  Drop(client);
  Connect(client);
}

void Ask(Client* client) {
  static const std::string keep = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static const std::string once = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const std::string& text = mode == Mode::kKeep ? keep : once;
  client->answer.clear();
  client->state = State::kReading;
  if (SSL_write(client->ssl, text.data(), static_cast<int>(text.size())) <= 0) return Fail(client);
  Watch(client, EPOLLIN);
}

void Count(Client* client) {
  ++requests;
  const auto took = Clock::now() - client->began;
  times.push_back(
      static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
}

void Step(Client* client) {
  if (client->state == State::kConnecting) client->state = State::kHandshake;
  if (client->state == State::kHandshake) {
    const int result = SSL_do_handshake(client->ssl);
    if (result == 1) {
      if (SSL_session_reused(client->ssl) == 1) ++resumed;
      return Ask(client);
    }
    const int why = SSL_get_error(client->ssl, result);
    if (why == SSL_ERROR_WANT_READ) return Watch(client, EPOLLIN);
    if (why == SSL_ERROR_WANT_WRITE) return Watch(client, EPOLLOUT);
    return Fail(client);
  }
  char buffer[16 * 1024];
  for (;;) {
    const int got = SSL_read(client->ssl, buffer, sizeof buffer);
    if (got <= 0) {
      if (SSL_get_error(client->ssl, got) == SSL_ERROR_WANT_READ) return;
      // The end, said within TLS or not.
      const bool is_whole = client->answer.find("Hello, world!") != std::string::npos;
      if (mode == Mode::kKeep || !is_whole) return Fail(client);
      Count(client);
      if (mode == Mode::kResumed) {
        SSL_SESSION_free(client->session);
        client->session = SSL_get1_session(client->ssl);
      }
      Drop(client);
      return Connect(client);
    }
    client->answer.append(buffer, static_cast<size_t>(got));
    if (mode == Mode::kKeep && client->answer.ends_with("Hello, world!")) {
      Count(client);
      client->began = Clock::now();
      return Ask(client);
    }
  }
}

uint32_t Percentile(double share) {
  if (times.empty()) return 0;
  return times[static_cast<size_t>(static_cast<double>(times.size() - 1) * share)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string name = argv[1];
  mode = name == "keep" ? Mode::kKeep : name == "full" ? Mode::kFull : Mode::kResumed;
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(atoi(argv[2])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const double seconds = atof(argv[4]);
  context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
  epoll_fd = epoll_create1(0);
  std::vector<Client> clients(static_cast<size_t>(atoi(argv[3])));
  const Clock::time_point start = Clock::now();
  for (Client& client : clients) Connect(&client);
  epoll_event events[256];
  double taken = 0;
  while ((taken = std::chrono::duration<double>(Clock::now() - start).count()) < seconds) {
    const int count = epoll_wait(epoll_fd, events, 256, 100);
    for (int i = 0; i < count; ++i) Step(static_cast<Client*>(events[i].data.ptr));
  }
  std::sort(times.begin(), times.end());
  printf(
      "{\"requests\":%lu,\"errors\":%lu,\"resumed\":%lu,\"seconds\":%.3f,\"p50\":%u,\"p95\":%u,"
      "\"p99\":%u}\n",
      requests, errors, resumed, taken, Percentile(0.5), Percentile(0.95), Percentile(0.99));
  return 0;
}
