#pragma once
// A lane: an I/O thread with a libuv loop, its connections, and the records to and from JavaScript.

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

// Starting: 1. the loop and its handles, 2. the thread. Stopping: 1. a command closes connections
// and handles, 2. the loop ends, 3. the thread is joined, 4. the loop is closed.
class Lane final : public InputHandler {
 public:
  Lane(size_t index, const LaneMemory& memory, const http1::MethodTable* methods,
       ConsumerSignal* signal, uint64_t member_id, PortStatistics* statistics,
       std::function<void(uint16_t port)> on_doubt);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // -- Thread: the owner's.

  // Returns 0 or a negative errno; the lane must not be used after a failure. `lender` is the
  // acceptor whose listeners this lane may watch itself; nullptr = the acceptor gives connections
  // to the lane.
  int Start(Acceptor* lender);
  void Stop();

  // -- Thread: any.

  RequestQueue& requests() { return queue_; }
  ReplyReader& replies() { return replies_; }
  LentMemory& lent() { return lent_; }
  RefusedRequests& refused() { return refused_; }
  // The number of connections that the lane has or was given.
  uint32_t load() const { return load_.load(std::memory_order_relaxed); }
  // Wakes the lane from its poll, or from the nap in which it waits for JavaScript's batch to end.
  void Wake();
  // Wakes the lane if it has announced that it sleeps (kLaneSleeping). A lane that is awake sees
  // published replies by itself.
  void WakeIfSleeping();

  // Commands. They run on the lane's thread, in the order of the calls.

  // Adds a server or changes its settings. When it has returned, the settings apply to every
  // request that a client sends, unless other commands wait.
  void SetConfig(uint32_t server_id, std::shared_ptr<const ServerConfig> config);
  // The server has stopped listening: ends its idle connections or gives them to another member.
  void Unlisten(uint32_t server_id);
  // Gives the lane accepted connections. Takes the descriptors over.
  void Adopt(uint32_t server_id, const std::vector<int>& fds);
  // Refuses or closes what is older than the timeouts; 0 = no limit.
  void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                        uint64_t request_timeout_ms);
  // Makes the lane arrive at the barrier once the replies published so far are handled, and also
  // sent if the barrier's goal is DrainGoal::kSent.
  void Drain(std::shared_ptr<DrainBarrier> barrier);
  // Answers the requests that JavaScript will not begin, because its thread is ending.
  void RefuseAbandoned();
  // Replaces the routes of a port. `done` is called on the lane's thread, also if the lane is
  // stopping.
  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes, std::function<void()> done);
  // Continues a handshake that waits for JavaScript.
  void AnswerHello(uint32_t id, tls::HelloAnswer answer);
  // Asks the TLS session of a connection, and waits for the answer up to limits::kTlsAskMs. Returns
  // an empty string if there is none.
  std::string AskTls(uint32_t slot, tls::Question question, std::string argument);
  // Accepts a link from a lane of another member. Takes the descriptor over.
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
  // Enqueues the connections as a command, without waking the lane.
  void EnqueueAccepted(uint32_t server_id, const std::vector<int>& fds);
  void RunCommands();
  // Runs the commands that replies may depend on: those up to the first kOther.
  void RunOrders();
  // Runs the kConfig commands that are first in the queue.
  void RunConfigs();
  void Run(const std::vector<Command>& commands);
  // Opens the accepted connections. `may_wait`: those without a request so far may be opened later,
  // by TakeEarly().
  void TakeAccepted(bool may_wait);
  // Opens the connections that waited for their request, and handles what they have.
  void TakeEarly();
  void OpenEarly();
  // Opens one connection or passes it on to another member. Returns false if it has no request so
  // far and shall be looked at again.
  bool Take(const Accepted& accepted, bool may_wait);
  // What the lane does in each turn of the loop before and after it waits for events.
  void BeforePoll();
  void AfterPoll();
  void MakeSessions();
  void ResumeTouched();
  void FlushAndResume();
  // Announces in the control block that the lane may sleep, so that JavaScript wakes it for
  // replies.
  void FallAsleep();
  // Waits up to limits::kNapUs for JavaScript to finish its batch. Returns true if JavaScript has
  // ended the wait.
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
  std::unique_ptr<AcceptWatch> accept_watch_;  // nullptr = the acceptor's thread accepts.
  // The next PublishRequests() also publishes records that could have been told later.
  bool is_late_due_ = false;

  std::mutex mutex_;
  std::vector<Command> commands_;  // Guarded by mutex_.
  // commands_ has a kConfig command. Written with mutex_ held.
  std::atomic<bool> has_config_ = false;
  // commands_ has a kConfig or kUnlisten command. Written with mutex_ held.
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
  // Destroyed after transport_, whose queues may hold output that refers to the session.
  std::unique_ptr<WebSocketSession> websockets_;
  std::unique_ptr<Transport> transport_;
  OutputPass* output_ = nullptr;  // The transport's.
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
  const std::function<void(uint16_t port)> on_doubt_;  // See PortRouter.

  // Used by the lane's thread only.
  LaneServers servers_;
  std::vector<std::shared_ptr<DrainBarrier>> drains_;
  std::vector<Connection*> touched_;
  std::vector<Accepted> accepted_;  // New connections that Run() has still to open.
  std::vector<Accepted> early_;     // New connections without a request, until the end of the turn.
  bool is_sleeping_ = false;
  bool is_stopping_ = false;
  uint64_t peek_ms_ = 0;
  WaitBackoff nap_backoff_;
};

}  // namespace httpsys::engine
