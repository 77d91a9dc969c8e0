#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/backend.h"
#include "base/block_store.h"
#include "http1/method_table.h"
#include "records/consumer_signal.h"
#include "records/control_block.h"
#include "records/record_writer.h"
#include "records/reply_reader.h"
#include "records/request_queue.h"
#include "win/completion_port.h"
#include "win/kernel_queue.h"
#include "win/receiver.h"
#include "win/reply_handler.h"
#include "win/sent_file.h"
#include "win/session.h"

namespace httpsys::win {

// The thread on which all queues' calls complete. Thread: JavaScript's, if no comment says
// otherwise.
class Lane {
 public:
  // The pointers and `memory` must outlive the lane.
  Lane(CompletionPort* port, const LaneMemory& memory, const http1::MethodTable* methods,
       ConsumerSignal* signal);
  Lane& operator=(Lane&&) = delete;
  ~Lane();

  void Start();
  // Ends every call and the thread. Idempotent.
  void Stop();
  // True if no call is outstanding after Stop(). If false, a driver has lost a call and may still
  // write to the call's memory: the lane must never be freed.
  bool IsQuiet() const;

  RequestQueue& requests() { return queue_; }
  ReplyReader& replies() { return replies_; }
  LentMemory& lent() { return lent_; }
  SentFiles& files() { return files_; }

  // Wake the lane's thread. Thread: any.
  void Wake();
  void WakeIfSleeping();

  // -- Commands, which run on the lane before its next request.
  void SetServer(uint32_t server_id, ServerSettings settings);
  // Begins to receive requests from a queue. They are for the server `server_id`; 0 = for the
  // server in the request's context.
  void AddQueue(std::shared_ptr<KernelQueue> queue, uint32_t server_id);
  // Stops receiving requests from a queue, and keeps the queue until all its requests are answered.
  void RemoveQueue(const KernelQueue* queue);
  void Unlisten(uint32_t server_id);
  bool Drain(uint64_t timeout_ms, DrainGoal goal);

 private:
  struct Barrier {
    DrainGoal goal;
    bool is_reached = false;
  };

  void Post(std::function<void()> task);
  void RunPosted();
  void Main();
  void Turn();
  void HandleReplies();
  void Complete(const CompletionPort::Completion& completion);
  void StartReceives();
  void Publish();
  void AnswerDrains();
  uint32_t WaitMs();
  void CancelEverything();

  CompletionPort* const port_;
  ConsumerSignal* const signal_;
  const ControlBlock control_;
  RequestQueue queue_;
  ReplyReader replies_;
  LentMemory lent_;
  SentFiles files_;
  engine::RecordWriter records_;
  Session session_;
  ReplyHandler handler_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable reached_;
  std::vector<std::function<void()>> posted_;  // Guarded by mutex_.
  // Used by the lane; their members are guarded by mutex_.
  std::vector<std::shared_ptr<Barrier>> barriers_;

  // Used only by the lane.
  std::vector<std::unique_ptr<Receiver>> receivers_;
  bool is_stopping_ = false;
  bool was_stalled_ = false;
  uint32_t peek_ms_ = 0;
};

}  // namespace httpsys::win
