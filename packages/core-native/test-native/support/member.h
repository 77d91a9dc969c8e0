#pragma once
// A member of shared ports without lanes: routes are kept instead of followed.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/accept/acceptor.h"
#include "sharing/shared_ports.h"

namespace httpsys::test {

// A socket that listens on a loopback port which nobody else has.
class PortHolder {
 public:
  PortHolder();
  ~PortHolder();
  PortHolder(const PortHolder&) = delete;
  PortHolder& operator=(const PortHolder&) = delete;
  int fd() const { return fd_; }
  uint16_t port() const { return port_; }

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

// Thread: the test's, but for the Delegate.
class Member final : public sharing::Delegate {
 public:
  Member();
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Waits for the result; its listening sockets are closed and counted.
  RegistrationResult Register(uint16_t port, uint32_t server_id,
                              const std::vector<std::string>& prefixes, uint8_t flags = 0,
                              const std::string& queue = "", QueueMode mode = QueueMode::kCreate);
  // Begins it: the result is taken by TakeResult(). False when it was there at once.
  bool BeginRegister(uint16_t port, const peer::Register& wanted, RegistrationResult* result);
  bool TakeResult(RegistrationResult* result, int timeout_ms = 5000);
  void Unregister(uint16_t port, uint32_t server_id, uint32_t wait_ms = 0);
  void Close();

  // What lanes would go by: "http://*:80/a/" -> owners, as a list of prefixes with their number.
  std::shared_ptr<const sharing::PortRoutes> Routes(uint16_t port);
  // Until it is so, or 5 s have passed.
  bool RoutesBecome(uint16_t port, const std::function<bool(const sharing::PortRoutes&)>& is_so);
  size_t targets(uint16_t port);
  // How often a socket was to be accepted from.
  int accepts();
  sharing::SharedPorts& sharing() { return *sharing_; }
  // Those that it was told, the last ones last.
  std::vector<std::string> ticket_keys();
  // What a member was asked about its cache: `<server>:<wants>:<url>`, in order.
  std::vector<std::string> cache_questions();

 private:
  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                 std::function<void()> applied) override;
  int Watch(int fd, std::function<void(int fd)> sink) override;
  void Unwatch(int key) override { acceptor_.RemoveOne(key); }
  void AcceptFor(uint32_t server_id, int fd) override;
  void OnLink(int fd) override;
  void WakeConsumer() override;
  sharing::PortCounters Count(uint16_t port) override;
  std::optional<CacheReport> AskCache(uint32_t server_id, const CacheQuestion& question) override;
  peer::TicketKeys TellTicketKeys(uint16_t port) override;
  void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) override;
  void Work();

  engine::Acceptor acceptor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint16_t, std::shared_ptr<const sharing::PortRoutes>> routes_;
  std::deque<std::function<void()>> work_;
  std::vector<std::string> ticket_keys_;
  std::vector<std::string> cache_questions_;
  int accepts_ = 0;
  uint64_t wakes_ = 0;
  uint32_t last_token_ = 0;
  uint32_t last_prefix_ = 100;
  bool is_over_ = false;
  std::unique_ptr<sharing::SharedPorts> sharing_;
  std::thread lane_;
};

}  // namespace httpsys::test
