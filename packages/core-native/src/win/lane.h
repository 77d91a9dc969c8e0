#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/backend.h"
#include "common/block_store.h"
#include "common/consumer_signal.h"
#include "common/control_block.h"
#include "common/reply_reader.h"
#include "common/request_queue.h"
#include "engine/record_writer.h"
#include "http1/method_table.h"
#include "win/kernel_queue.h"
#include "win/reply_handler.h"
#include "win/session.h"

namespace httpsys::win {

// The thread that every call of a request queue completes on, with several calls for requests
// outstanding. Thread: JavaScript, except where it says otherwise.
class Lane {
 public:
  // All memory must outlive it.
  Lane(KernelQueue* kernel, const LaneMemory& memory, const http1::MethodTable* methods,
       ConsumerSignal* signal);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  void Start();
  // Ends every call and the thread. Idempotent.
  void Stop();
  // After Stop(): no call is outstanding. One that a driver has lost may still write to its memory,
  // which must then stay for ever.
  bool IsQuiet() const { return receives_outstanding_ == 0 && session_.calls() == 0; }

  RequestQueue& requests() { return queue_; }
  ReplyReader& replies() { return replies_; }
  LentMemory& lent() { return lent_; }

  // Thread: any.
  void Wake();
  void WakeIfSleeping();

  // They run on the lane before it takes another request.
  void SetServer(uint32_t server_id, ServerSettings settings);
  void Unlisten(uint32_t server_id);
  bool Drain(uint64_t timeout_ms, DrainGoal goal);

 private:
  struct ReceiveCall : Operation {
    ReceiveCall() : Operation(OperationKind::kReceive) {}
    HTTP_REQUEST* memory() { return reinterpret_cast<HTTP_REQUEST*>(buffer.data()); }
    std::vector<uint64_t> buffer;  // Words, for alignment.
    HTTP_REQUEST_ID id = 0;        // Of one that did not fit.
    bool is_outstanding = false;
  };
  struct Barrier {
    DrainGoal goal;
    bool is_reached = false;
  };

  void Post(std::function<void()> task);
  void RunPosted();
  void Main();
  void Turn();
  void HandleReplies();
  void Complete(const KernelQueue::Completion& completion);
  void StartReceives();
  bool Receive(ReceiveCall* call);
  bool OnReceived(ReceiveCall* call, const CallResult& result);
  void Publish();
  void AnswerDrains();
  uint32_t WaitMs();
  void CancelEverything();

  KernelQueue* const kernel_;
  ConsumerSignal* const signal_;
  const ControlBlock control_;
  RequestQueue queue_;
  ReplyReader replies_;
  LentMemory lent_;
  engine::RecordWriter records_;
  Session session_;
  ReplyHandler handler_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable reached_;
  std::vector<std::function<void()>> posted_;       // Guarded by mutex_.
  std::vector<std::shared_ptr<Barrier>> barriers_;  // The lane's; their members by mutex_.

  // The lane's.
  std::vector<std::unique_ptr<ReceiveCall>> receives_;
  size_t receives_outstanding_ = 0;
  bool is_stopping_ = false;
  bool was_stalled_ = false;
  bool is_refused_ = false;  // The last call for a request failed: not at once again.
  uint32_t peek_ms_ = 0;
};

}  // namespace httpsys::win
