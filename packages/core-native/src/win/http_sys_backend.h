#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "http1/method_table.h"
#include "records/consumer_signal.h"
#include "win/completion_port.h"
#include "win/kernel_queue.h"
#include "win/lane.h"
#include "win/server_session.h"
#include "win/url_group.h"

namespace httpsys::win {

// The backend on HTTP.SYS. One lane serves all servers of a JavaScript environment: because the
// kernel parses, routes and sends, one thread keeps up with JavaScript. Servers share a request
// queue unless they need a name or other properties.
class HttpSysBackend final : public UrlBackend {
 public:
  explicit HttpSysBackend(BackendOptions options);
  ~HttpSysBackend() override;

  // Returns NO_ERROR or the system's error code. After a failure only Close() may be called.
  uint32_t Start();

  size_t lane_count() const override { return 1; }
  RequestQueue& requests(size_t) override { return lane_->requests(); }
  ConsumerSignal& signal() override { return signal_; }
  uint32_t AddReplySegment(size_t lane, std::span<const uint8_t> memory) override;
  LentMemory& lent(size_t) override { return lane_->lent(); }
  void WakeLane(size_t lane) override;
  void Wake(size_t lane) override;
  int Configure(uint32_t server_id, ServerSettings settings) override;
  UrlResult OpenQueue(uint32_t server_id, const std::string& name, QueueMode mode) override;
  UrlResult AddUrl(uint32_t server_id, uint32_t prefix_id, const std::string& url) override;
  void RemoveUrl(uint32_t server_id, uint32_t prefix_id) override;
  void Unlisten(uint32_t server_id) override;
  uint32_t FlushCache(uint32_t server_id, const std::string& url, bool is_recursive) override;
  int64_t SendFile(size_t lane, Descriptor fd, uint32_t kept_id, uint64_t start,
                   uint64_t bytes) override;
  // Not needed: HTTP.SYS has its own timeouts for incomplete messages.
  void CheckConnections(uint32_t, uint64_t, uint64_t) override {}
  bool Drain(uint64_t timeout_ms, DrainGoal goal) override;
  void Close() override;

 private:
  // The properties of a request queue: its length and the verbosity of its 503 responses.
  using QueueKey = std::pair<uint32_t, Http503Verbosity>;
  struct Server {
    KernelSettings kernel;
    QueueKey queue_key;
    std::shared_ptr<KernelQueue> queue;  // nullptr until the queue is open.
    bool has_own_queue = false;          // True if no other server uses the queue.
  };

  std::shared_ptr<KernelQueue> FindOrOpenQueue(const QueueKey& key, UrlResult* result);
  UrlResult OpenNamedQueue(Server* server, uint32_t server_id, const std::string& name,
                           QueueMode mode);

  http1::MethodTable methods_;
  ConsumerSignal signal_;
  LaneMemory memory_;
  std::unique_ptr<ServerSession> session_;
  std::unique_ptr<CompletionPort> port_;
  std::unique_ptr<Lane> lane_;
  std::map<uint32_t, Server> servers_;
  std::map<QueueKey, std::shared_ptr<KernelQueue>> queues_;  // The queues without a name.
  // The URLs, by server id and prefix id.
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<UrlGroup>> urls_;
  bool is_closed_ = false;
};

}  // namespace httpsys::win
