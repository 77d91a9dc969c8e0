#pragma once
// A lane: an I/O thread with a libuv loop, and the connections that it serves.

#include <uv.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "base/block_store.h"
#include "engine/accept/acceptor.h"
#include "engine/command_queue.h"
#include "engine/connection/attachment.h"
#include "engine/connection/transport.h"
#include "engine/lane_commands.h"
#include "engine/lane_parts.h"
#include "engine/nap.h"
#include "engine/peers/port_statistics.h"
#include "http1/method_table.h"

namespace httpsys::engine {

// An I/O thread. The ReadAhead must be closed before the lane is stopped. Steps of starting: 1. the
// loop and its handles, 2. the thread. Steps of stopping: 1. a command closes connections and
// handles, 2. the loop ends, 3. the thread is joined, 4. the loop is closed.
class Lane final : public InputHandler {
 public:
  Lane(size_t index, const http1::MethodTable* methods, uint64_t member_id,
       PortStatistics* statistics, std::function<void(uint16_t port)> on_doubt,
       files::ReadAhead* ahead, ForeignArenas* arenas);
  ~Lane();
  Lane& operator=(Lane&&) = delete;

  // -- Thread: the owner's.

  // Attaches a JavaScript environment, whose memory must outlive the lane. Must be called before
  // Start(). The attachment stays until the lane is destroyed.
  Attachment* Attach(const LaneMemory& memory, ConsumerSignal* signal);
  // Returns 0 or a negative errno; the lane must not be used after a failure. `lender` is the
  // acceptor whose listeners this lane may watch itself; nullptr = the acceptor gives connections
  // to the lane.
  int Start(Acceptor* lender);
  void Stop();

  // -- Thread: any.

  // The commands that other threads give the lane. Valid after Start().
  LaneCommands& commands() { return *commands_; }
  // The number of connections that the lane has or was given.
  uint32_t load() const { return load_.load(std::memory_order_relaxed); }
  // Wakes the lane from its poll, or from the nap in which it waits for JavaScript's batch to end.
  void Wake();
  // Wakes the lane if it has announced to the attachment that it sleeps (kLaneSleeping). A lane
  // that is awake sees published replies by itself.
  void WakeIfSleeping(Attachment* attachment);

 private:
  static void Main(void* argument);

  void OnReadable(Connection* connection) override;
  void OnDisconnect(Connection* connection) override;
  void OnTimeout(Connection* connection) override;
  void OnTooSlow(Connection* connection) override;
  void OnOutputEnding(Connection* connection) override;
  void OnAnnounced(Connection* connection) override;
  void OnDetached(Connection* connection) override;
  void OnWake();
  // Run in each iteration of the loop before and after the wait for events.
  void BeforePoll();
  void AfterPoll();
  // Yields the CPU to other threads and processes.
  void GiveWay();
  void ResumeTouched();
  void FlushAndResume();
  void FlushAll();
  // Sends output and publishes records that came up after the passes of a loop iteration.
  void SendLate();
  // Announces in the control blocks that the lane may sleep, so that JavaScript wakes it for
  // replies.
  void FallAsleep();
  void WakeUp();
  void PublishRecords() { parts_->publisher->Publish(commands_->has_drains()); }
  void ArmPeekTimer();
  void ArmLogTimer();
  void CloseHandles();

  const size_t index_;
  const http1::MethodTable* methods_;
  const uint64_t member_id_;
  PortStatistics* statistics_;
  const std::function<void(uint16_t port)> on_doubt_;  // See PortRouter.
  files::ReadAhead* const ahead_;
  ForeignArenas* const arenas_;
  uv_loop_t loop_;
  uv_thread_t thread_;
  bool is_started_ = false;
  uv_async_t wake_;
  uv_prepare_t prepare_;
  uv_check_t check_;
  uv_timer_t peek_timer_;
  uv_timer_t log_timer_;
  std::unique_ptr<AcceptWatch> accept_watch_;  // nullptr = the acceptor's thread accepts.

  std::atomic<uint32_t> load_{0};
  CommandQueue queue_;
  const std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  Attachments attachments_;
  Nap nap_{&attachments_};
  // Made when the lane starts.
  std::unique_ptr<LaneParts> parts_;
  std::unique_ptr<LaneCommands> commands_;

  // Used by the lane's thread only.
  std::vector<Connection*> touched_;
  bool is_sleeping_ = false;
  uint64_t peek_ms_ = 0;
};

}  // namespace httpsys::engine
