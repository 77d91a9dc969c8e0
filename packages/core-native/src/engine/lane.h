#pragma once
// One I/O thread: a libuv loop, its connections, and both directions of records.

#include <uv.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "base/contention.h"
#include "engine/accept/accept_watch.h"
#include "engine/config/server_config.h"
#include "engine/connection/input.h"
#include "engine/connection/pass_clock.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/drain_barrier.h"
#include "engine/http1/http1_session.h"
#include "engine/http2/http2_session.h"
#include "engine/opaque/opaque_session.h"
#include "engine/peers/port_router.h"
#include "engine/peers/port_statistics.h"
#include "engine/peers/relay_input.h"
#include "engine/reply_processor.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_gate.h"
#include "engine/tls/tls_handshakes.h"
#include "engine/websocket/websocket_session.h"
#include "records/control_block.h"
#include "records/record_writer.h"
#include "records/reply_reader.h"

namespace httpsys::engine {

// Start: 1. loop and handles, 2. thread. Stop: 1. a command closes connections and handles, 2. the
// loop ends, 3. the thread is joined, 4. the loop is closed.
class Lane final : public InputHandler {
 public:
  Lane(size_t index, const LaneMemory& memory, const http1::MethodTable* methods,
       ConsumerSignal* signal, uint64_t member_id, PortStatistics* statistics);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // -- Thread: the owner's.

  // 0 or a negative errno; must not be used after a failure. `lender`: whose listeners this lane
  // may watch itself; null = it is given connections.
  int Start(Acceptor* lender);
  void Stop();

  // -- Thread: any.

  RequestQueue& requests() { return queue_; }
  ReplyReader& replies() { return replies_; }
  LentMemory& lent() { return lent_; }
  RefusedRequests& refused() { return refused_; }
  uint32_t load() const { return load_.load(std::memory_order_relaxed); }
  void Wake();
  void WakeIfSleeping();

  // Commands run on the lane, in the order in which they were given.

  // Counts for every request that is sent when it has returned, unless other commands wait.
  void SetConfig(uint32_t server_id, std::shared_ptr<const ServerConfig> config);
  void Unlisten(uint32_t server_id);
  // Takes the descriptor over.
  void Adopt(uint32_t server_id, const std::vector<int>& fds);
  void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                        uint64_t request_timeout_ms);
  void Drain(std::shared_ptr<DrainBarrier> barrier);
  void RefuseAbandoned();
  // `done` is called on the lane, also when that ends.
  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes, std::function<void()> done);
  void AnswerHello(uint32_t id, tls::HelloAnswer answer);
  // Waits for the answer.
  std::string AskTls(uint32_t slot, tls::Question question, std::string argument);
  // A lane of another member wants to speak to this one. Takes the descriptor over.
  void AcceptLink(int fd);

 private:
  enum class CommandKind : uint8_t { kConfig, kUnlisten, kAdopt, kOther };

  struct Command {
    std::function<void()> run;
    CommandKind kind;
  };

  struct Accepted {
    uint32_t server_id;
    int fd;
  };

  static void Main(void* argument);

  void OnReadable(Connection* connection) override;
  void OnDisconnect(Connection* connection) override;
  void OnTimeout(Connection* connection) override;
  void OnTooSlow(Connection* connection) override;
  void OnOutputEnding(Connection* connection) override;
  void OnAnnounced(Connection* connection) override;
  void OnDetached(Connection* connection) override;
  void Post(std::function<void()> command, CommandKind kind = CommandKind::kOther);
  void Enqueue(std::function<void()> command, CommandKind kind);
  // As a command, whose turn comes by itself or by a wake.
  void EnqueueAccepted(uint32_t server_id, const std::vector<int>& fds);
  void RunCommands();
  void RunOrders();
  void RunConfigs();
  void Run(const std::vector<Command>& commands);
  // `may_wait`: those without a request may get a second look.
  void TakeAccepted(bool may_wait);
  void TakeEarly();  // That second look, and what follows from it.
  void OpenEarly();
  // False: it has no request so far, and shall be looked at again.
  bool Take(const Accepted& accepted, bool may_wait);
  void BeforePoll();
  void AfterPoll();
  void MakeSessions();
  void ResumeTouched();
  void FlushAndResume();
  void FallAsleep();
  bool Nap();
  bool EndNap();
  void WakeUp();
  void PublishRequests();
  void PublishNow();
  void ArmPeekTimer();
  void ArmLogTimer();
  void AnswerDrains();
  void CloseHandles();
  void SweepServers();
  void EndOrMove(LaneServer* server);

  const size_t index_;
  ControlBlock control_;
  ConsumerSignal* signal_;
  uv_loop_t loop_;
  uv_thread_t thread_;
  bool is_started_ = false;
  uv_async_t wake_;
  uv_prepare_t prepare_;
  uv_check_t check_;
  uv_timer_t peek_timer_;
  uv_timer_t late_timer_;
  uv_timer_t log_timer_;
  std::unique_ptr<AcceptWatch> accept_watch_;  // Null: connections are given.
  bool is_late_due_ = false;                   // What was to be told late is told now.

  std::mutex mutex_;
  std::vector<Command> commands_;         // Guarded by mutex_.
  std::atomic<bool> has_config_ = false;  // Written under mutex_: commands_ has settings.
  // As has_config_, or servers that have stopped to listen.
  std::atomic<bool> has_orders_ = false;
  std::mutex nap_mutex_;
  std::condition_variable nap_over_;
  bool is_napping_ = false;  // Guarded by nap_mutex_.
  std::atomic<uint32_t> load_{0};

  LentMemory lent_;
  RequestQueue queue_;
  ReplyReader replies_;
  RefusedRequests refused_;
  RecordWriter records_;
  std::unique_ptr<WebSocketSession> websockets_;  // Outlives output that it has shared.
  std::unique_ptr<Transport> transport_;
  OutputPass* output_ = nullptr;  // Of the transport.
  std::unique_ptr<TlsHandshakes> handshakes_;
  PassClock clock_;
  std::unique_ptr<NativeAnswers> answers_;
  std::unique_ptr<RequestGate> gate_;
  Protocols protocols_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<Exchanges> exchanges_;
  std::unique_ptr<Http1Session> http1_;
  std::unique_ptr<OpaqueSession> opaque_;
  std::unique_ptr<RelayInput> relay_input_;
  std::unique_ptr<Http2Session> http2_;
  std::unique_ptr<ReplyProcessor> processor_;
  std::unique_ptr<PortRouter> router_;
  const http1::MethodTable* methods_;
  const uint64_t member_id_;
  PortStatistics* statistics_;

  // The lane's alone.
  LaneServers servers_;
  std::vector<std::shared_ptr<DrainBarrier>> drains_;
  std::vector<Connection*> touched_;
  std::vector<Accepted> accepted_;  // New connections, within RunCommands().
  std::vector<Accepted> early_;     // Those without a request, until the end of the turn.
  bool is_sleeping_ = false;
  bool is_stopping_ = false;
  uint64_t peek_ms_ = 0;
  WaitBackoff nap_backoff_;
};

}  // namespace httpsys::engine
