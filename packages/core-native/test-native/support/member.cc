#include "support/member.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "peer/frame_reader.h"

namespace httpsys::test {
namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

PortHolder::PortHolder() {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(fd_, 64), 0);
  socklen_t size = sizeof address;
  getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

PortHolder::~PortHolder() { close(fd_); }

Member::Member() : sharing_(std::make_unique<sharing::SharedPorts>(this)) {
  EXPECT_EQ(acceptor_.Start(), 0);
  sharing_->Introduce(0, "test");
  lane_ = std::thread([this] { Work(); });
}

Member::~Member() {
  Close();
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  lane_.join();
  sharing_.reset();
}

void Member::Close() {
  sharing_->Close();
  acceptor_.Stop();
}

RegistrationResult Member::Register(uint16_t port, uint32_t server_id,
                                    const std::vector<std::string>& prefixes, uint8_t flags,
                                    const std::string& queue, QueueMode mode) {
  peer::Register wanted;
  wanted.token = ++last_token_;
  wanted.server_id = server_id;
  wanted.flags = flags;
  wanted.queue = queue;
  wanted.queue_mode = static_cast<uint8_t>(mode);
  // Members of a test ask clients for no certificates.
  const std::string terms(peer::kTermsBytes, 't');
  for (const std::string& text : prefixes) {
    wanted.prefixes.push_back({++last_prefix_, text, text.starts_with("https") ? terms : ""});
  }
  RegistrationResult result;
  if (BeginRegister(port, wanted, &result)) {
    EXPECT_TRUE(TakeResult(&result));
  }
  EXPECT_EQ(result.token, wanted.token);
  for (const int fd : result.sockets) close(fd);
  return result;
}

bool Member::BeginRegister(uint16_t port, const peer::Register& wanted,
                           RegistrationResult* result) {
  return !sharing_->Register(port, wanted, result);
}

bool Member::TakeResult(RegistrationResult* result, int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::unique_lock lock(mutex_);
  for (;;) {
    const uint64_t wakes = wakes_;
    lock.unlock();
    if (sharing_->TakeResult(result)) return true;
    lock.lock();
    if (!changed_.wait_until(lock, deadline, [&] { return wakes_ != wakes; })) return false;
  }
}

void Member::Unregister(uint16_t port, uint32_t server_id, uint32_t wait_ms) {
  sharing_->Unregister(port, {server_id, wait_ms, 1, {}, 0});
}

std::shared_ptr<const sharing::PortRoutes> Member::Routes(uint16_t port) {
  const std::lock_guard lock(mutex_);
  return routes_[port];
}

bool Member::RoutesBecome(uint16_t port,
                          const std::function<bool(const sharing::PortRoutes&)>& is_so) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience,
                           [&] { return routes_[port] != nullptr && is_so(*routes_[port]); });
}

size_t Member::targets(uint16_t port) {
  const auto routes = Routes(port);
  return routes == nullptr ? 0 : routes->target_count();
}

int Member::accepts() {
  const std::lock_guard lock(mutex_);
  return accepts_;
}

// -- As an engine: routes are in force when a thread of its own has taken them.

void Member::SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                       std::function<void()> applied) {
  const std::lock_guard lock(mutex_);
  work_.emplace_back([this, routes = std::move(routes), applied = std::move(applied)] {
    {
      const std::lock_guard lock(mutex_);
      routes_[routes->port()] = routes;
    }
    changed_.notify_all();
    if (applied) applied();
  });
  changed_.notify_all();
}

void Member::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || !work_.empty(); });
    if (is_over_) return;
    const std::function<void()> next = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

int Member::Watch(int fd, std::function<void(int fd)> sink) {
  return acceptor_.Add(0, fd, [sink = std::move(sink)](const std::vector<int>& fds) {
    for (const int each : fds) sink(each);
  });
}

void Member::AcceptFor(uint32_t, int fd) {
  close(fd);
  const std::lock_guard lock(mutex_);
  ++accepts_;
}

// As a lane does, which has nothing else to do here.
void Member::OnLink(int fd) {
  peer::FrameReader reader;
  char buffer[256];
  pollfd watched{fd, POLLIN, 0};
  while (poll(&watched, 1, 1000) == 1) {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    reader.Append({buffer, static_cast<size_t>(got)});
    peer::Frame frame;
    while (reader.Next(&frame) == peer::FrameReader::Result::kFrame) {
      peer::Doubt doubt;
      const bool is_doubt =
          frame.type == peer::FrameType::kDoubt && peer::Decode(frame.payload, &doubt);
      if (is_doubt) sharing_->OnDoubt(doubt.port);
    }
  }
  close(fd);
}

void Member::WakeConsumer() {
  const std::lock_guard lock(mutex_);
  ++wakes_;
  changed_.notify_all();
}

peer::TicketKeys Member::TellTicketKeys(uint16_t) {
  peer::TicketKeys told;
  told.keys.push_back({std::to_string(sharing_->id()), 1});
  return told;
}

std::vector<std::string> Member::ticket_keys() {
  const std::lock_guard lock(mutex_);
  return ticket_keys_;
}

void Member::LearnTicketKeys(uint16_t, const peer::TicketKeys& keys) {
  const std::lock_guard lock(mutex_);
  for (const peer::TicketKey& key : keys.keys) ticket_keys_.push_back(key.bytes);
  changed_.notify_all();
}

// Says that it has one entry, whose URL is what it was asked for.
std::optional<CacheReport> Member::AskCache(uint32_t server_id, const CacheQuestion& question) {
  const std::lock_guard lock(mutex_);
  cache_questions_.push_back(std::to_string(server_id) + ":" + std::to_string(question.wants) +
                             ":" + question.url);
  if (question.wants != CacheQuestion::kEntries) return CacheReport{1, {}};
  CacheEntry entry;
  entry.url = question.url;
  entry.status = 200;
  return CacheReport{0, std::vector(question.limit, entry)};
}

std::vector<std::string> Member::cache_questions() {
  const std::lock_guard lock(mutex_);
  return cache_questions_;
}

sharing::PortCounters Member::Count(uint16_t) {
  sharing::PortCounters counters;
  counters.member.connections = 1;
  return counters;
}

}  // namespace httpsys::test
