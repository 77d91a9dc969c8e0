#pragma once
// The engine: the acceptor, the lanes and port sharing of one JavaScript environment. A process may
// have several.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "engine/accept/acceptor.h"
#include "engine/cache/server_caches.h"
#include "engine/config/bandwidths.h"
#include "engine/kept_files.h"
#include "engine/lane.h"
#include "engine/lane_balance.h"
#include "engine/peers/port_statistics.h"
#include "files/open_files.h"
#include "files/read_ahead.h"
#include "http1/method_table.h"
#include "sharing/shared_ports.h"
#include "static_files/static_site.h"

namespace httpsys::engine {

// The engine of one JavaScript environment. backend.h describes the overridden methods. Thread:
// JavaScript, unless a member says otherwise.
class Engine final : public SocketBackend, private sharing::Delegate {
 public:
  explicit Engine(BackendOptions options);
  ~Engine() override;

  // Starts the threads. Returns 0 or a negative errno; after a failure only Close() may be called.
  int Start();

  size_t lane_count() const override { return lanes_.size(); }
  RequestQueue& requests(size_t lane) override { return attachments_[lane]->requests(); }
  ConsumerSignal& signal() override { return signal_; }
  int64_t SendFile(size_t lane, Descriptor fd, uint32_t kept_id, uint64_t start,
                   uint64_t bytes) override;
  uint32_t AddReplySegment(size_t lane, std::span<const uint8_t> memory) override;
  LentMemory& lent(size_t lane) override { return attachments_[lane]->lent(); }
  void WakeLane(size_t lane) override;
  void Wake(size_t lane) override;
  int Configure(uint32_t server_id, ServerSettings settings) override;
  int Listen(uint32_t server_id, Descriptor fd, int backlog, bool may_lend) override;
  void StopListening(int key) override;
  void Unlisten(uint32_t server_id) override;
  int Adopt(uint32_t server_id, Descriptor fd) override;
  void Introduce(uint32_t thread, std::string program) override;
  int Meet(uint16_t port, Stranger* stranger) override;
  int TakeAlone(uint16_t port) override;
  int Contribute(uint16_t port, uint32_t server_id, Descriptor fd, bool is_last) override;
  void Withdraw(uint16_t port, Descriptor fd) override;
  PortSockets Sockets(uint16_t port) override;
  int ListenBeside(uint16_t port, int backlog, const std::vector<Descriptor>& narrower) override;
  bool Register(const Registration& wanted, RegistrationResult* result) override;
  bool TakeResult(RegistrationResult* result) override;
  bool ChangeTerms(uint32_t server_id, TlsContextId context, RegistrationResult* conflict) override;
  bool Unregister(uint16_t port, uint32_t server_id, std::vector<uint32_t> prefix_ids,
                  uint32_t wait_ms, uint32_t token, bool stays) override;
  void Reserve(uint16_t port, const std::vector<std::string>& prefixes) override;
  void Leave(uint16_t port) override;
  void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                        uint64_t request_timeout_ms) override;
  void RefuseAbandoned() override;
  records::Claim TakeClaim(size_t lane) override;
  void AnswerHello(size_t lane, uint32_t id, HelloReply reply) override;
  std::string AskTls(size_t lane, uint32_t slot, uint32_t question, std::string argument) override;
  bool Drain(uint64_t timeout_ms, DrainGoal goal) override;
  void Close() override;

 private:
  // -- sharing::Delegate. Thread: any.

  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                 std::function<void()> applied) override;
  int Watch(int fd, std::function<void(int fd)> sink) override;
  void Unwatch(int key) override;
  void AcceptFor(uint32_t server_id, int fd) override;
  void OnLink(int fd) override;
  void WakeConsumer() override;
  sharing::PortCounters Count(uint16_t port) override;
  std::optional<CacheReport> AskCache(uint32_t server_id, const CacheQuestion& question) override;
  peer::TicketKeys TellTicketKeys(uint16_t port) override;
  void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) override;

  http1::MethodTable methods_;
  ConsumerSignal signal_;
  ForeignArenas arenas_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Attachment*> attachments_;  // This environment's attachment at each lane.
  LaneBalance balance_{&lanes_};
  Acceptor acceptor_;
  std::function<void()> wake_consumer_;
  PortStatistics statistics_;
  Bandwidths bandwidths_;
  // Shared with the threads that search for files, which may outlive the engine while a disk makes
  // them wait.
  std::shared_ptr<files::ReadAhead> ahead_;
  std::shared_ptr<files::OpenFiles> open_files_;
  static_files::StaticSites sites_{open_files_};
  KeptFiles kept_files_{open_files_.get()};
  // The configurations of the servers, by server id.
  std::unordered_map<uint32_t, std::shared_ptr<const ServerConfig>> configs_;
  sharing::SharedPorts sharing_;
  ServerCaches caches_{&ProcessCache::Instance(), std::to_string(sharing_.id())};
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
