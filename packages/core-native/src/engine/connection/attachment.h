#pragma once
// The part of a lane that belongs to one JavaScript environment.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"
#include "base/thread.h"
#include "engine/connection/receive_queue.h"
#include "engine/connection/unread_requests.h"
#include "files/open_file.h"
#include "records/claimed_requests.h"
#include "records/consumer_signal.h"
#include "records/control_block.h"
#include "records/record_writer.h"
#include "records/reply_reader.h"
#include "records/request_queue.h"

namespace httpsys::engine {

struct Connection;

// The table of slots: the numbers by which one JavaScript environment knows the connections and
// streams of its servers in a lane. A slot is free again once its connection is closed and
// JavaScript has released the number, in either order. Thread: the lane.
class Slots {
 public:
  // Gives the connection a new slot. If it has one already, the caller must Close() the old number.
  void Take(Connection* connection);
  // Marks the connection's slot as closed: Find() does not return the connection any more.
  void Close(Connection* connection);
  void Close(uint32_t number);
  // Returns the open connection of a slot, or nullptr. Any number is allowed.
  Connection* Find(uint32_t number) const;
  // Called when JavaScript no longer uses the slot's number. Returns false if there is no such
  // slot, or if it is released already.
  [[nodiscard]] bool Release(uint32_t number);

 private:
  struct Slot {
    Connection* connection = nullptr;
    bool is_closed = true;
    bool is_released = true;
  };

  void FreeIfDone(uint32_t number);

  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

// Owns everything that a lane shares with one JavaScript environment, and all numbers by which the
// two name things: slots, interned texts, blocks, positions in the queue. A connection reaches its
// attachment through its server. Thread: the lane, unless a member says otherwise.
class Attachment {
 public:
  // Must be made on the thread of the JavaScript environment. All memory must outlive the
  // attachment. `is_held` is as in ReplyReader, `queue_bytes_max` as in LaneMemory.
  Attachment(ControlBlock control, std::vector<std::span<uint8_t>> segments, ConsumerSignal* signal,
             std::shared_ptr<BlockPool> pool, const std::atomic<bool>* is_held,
             uint64_t queue_bytes_max = limits::kQueueBytesMax);
  ~Attachment() { TellBacklog(0); }
  Attachment& operator=(Attachment&&) = delete;

  // -- Used by JavaScript's thread, too; the header of each class says how.

  RequestQueue& requests() { return requests_; }
  ReplyReader& replies() { return replies_; }
  LentMemory& lent() { return lent_; }
  ClaimedRequests& claimed() { return claimed_; }
  ConsumerSignal& signal() { return *signal_; }
  // If the lane has announced that it sleeps, clears that mark and returns true: the caller must
  // wake the lane. Returns false otherwise. Thread: any.
  bool TakeSleeping() {
    return control_[records::kLaneSleeping].exchange(0, std::memory_order_seq_cst) == 1;
  }

  // -- Used by the lane only.

  RecordWriter& records() { return records_; }
  Slots& slots() { return slots_; }
  UnreadRequests& unread() { return unread_; }
  // Removes from unread() the requests that JavaScript has begun.
  void SettleUnread() {
    unread_.Settle(requests_.begun());
    if (told_backlog_ != 0) (void)LookWhetherFull();
  }
  // True if the next request must be parked, not passed to JavaScript: the unbegun requests of this
  // attachment have reached queue_bytes_max bytes. If they exceed its segments, the unbegun
  // requests of the whole process count. False if JavaScript has begun all its requests.
  bool IsFull() { return requests_.appended() >= room_end_ && LookWhetherFull(); }
  ReceiveQueue& receiving() { return receiving_; }

  // Announces in the control block whether the lane may sleep, so that JavaScript wakes it for
  // replies.
  void TellSleeping(bool is_sleeping) {
    control_[records::kLaneSleeping].store(is_sleeping ? 1 : 0, std::memory_order_seq_cst);
  }
  // True while JavaScript handles a batch of records and may still add replies. It checks only at
  // the end of the batch whether it must wake the lane.
  bool IsInBatch() const {
    return requests_.HasUnread() &&
           control_[records::kBatchOpen].load(std::memory_order_seq_cst) == 1;
  }
  // True from JavaScript's first reply outside of a batch until the end of its event loop's
  // iteration. Until then it adds replies without waking the lane.
  bool IsTurnOpen() const {
    return control_[records::kTurnOpen].load(std::memory_order_seq_cst) == 1;
  }
  // Makes the records written so far visible to JavaScript, and wakes its thread if necessary.
  void Publish() {
    if (requests_.Publish()) signal_->Raise();
  }
  // Returns a lent block to JavaScript, once the lane no longer uses it. `error` is a positive
  // errno or 0. `sent`: the bytes of a file that were sent before an error of that file.
  void ReturnBlock(uint32_t id, int error, uint64_t sent = 0) {
    lent_.Return(id);
    records_.BlockDone(id, error, sent);
  }
  // Returns an unused block to JavaScript. The number may also name a part of a file.
  void DropBlock(uint32_t id, int error) {
    (void)files_.Take(id);
    ReturnBlock(id, error);
  }
  // The parts of files that JavaScript wants sent. Thread: any.
  files::SentParts& files() { return files_; }
  // Returns for how long JavaScript has begun no record although it has unread ones; 0 = it has
  // none. Must also be called before records are published: time without records must not count.
  uint64_t BlockedMs(uint64_t now_ms);
  // The thread of the JavaScript environment.
  const ThreadWatch& thread() const { return thread_; }
  // The connections and streams that are not read until JavaScript catches up.
  MemoryQueue& waiting() { return waiting_; }
  // True if the oldest entry of waiting() can be resumed now: JavaScript may have caught up since
  // RecordPublisher last looked.
  bool HasDueReaders() {
    if (waiting_.empty()) return false;
    return waiting_.is_next_parked() ? !IsFull() : !requests_.stalled();
  }

 private:
  bool LookWhetherFull();
  // Replaces this attachment's part of the process's sum of bytes of unbegun requests. 0 = the
  // requests fit in the attachment's segments.
  void TellBacklog(uint64_t bytes);

  const ControlBlock control_;
  const ThreadWatch thread_ = WatchThisThread();
  ConsumerSignal* signal_;
  LentMemory lent_;
  files::SentParts files_;
  RequestQueue requests_;
  ReplyReader replies_;
  ClaimedRequests claimed_;
  RecordWriter records_;
  Slots slots_;
  UnreadRequests unread_;
  ReceiveQueue receiving_{&requests_.receive_blocks()};
  MemoryQueue waiting_;
  const uint64_t queue_bytes_max_;
  // IsFull() calls LookWhetherFull() only if RequestQueue::appended() has reached this position.
  uint64_t room_end_ = 0;
  uint64_t told_backlog_ = 0;  // The argument of the last TellBacklog().
  uint64_t begun_ = 0;         // RequestQueue::begun() at the last BlockedMs().
  uint64_t begun_at_ms_ = 0;   // When BlockedMs() first saw begun_.
};

// The attachments of a lane. Attachments are added before the lane's thread starts, and stay until
// the lane is destroyed.
class Attachments {
 public:
  Attachment* Add(std::unique_ptr<Attachment> attachment) {
    return all_.emplace_back(std::move(attachment)).get();
  }

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  // True if a JavaScript environment has unread records. Thread: the lane.
  bool HasUnread() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->requests().HasUnread(); });
  }
  // True if there are replies that the lane has not read. Thread: the lane.
  bool HasReplies() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->replies().HasMore(); });
  }
  // True if every JavaScript environment with unread replies is still in a batch: the lane may wait
  // and read more replies at a time. The caller must have called TellSleeping(true) of all
  // attachments. Thread: the lane.
  bool MayGatherReplies() const {
    return std::all_of(begin(), end(), [](const auto& one) {
      return !one->replies().HasMore() || one->IsInBatch();
    });
  }
  // True if a connection that waits for memory of JavaScript can be resumed. Thread: the lane.
  bool HasDueReceivers() const {
    return std::any_of(begin(), end(), [](const auto& one) {
      return one->receiving().is_due() || one->HasDueReaders();
    });
  }
  // True while a JavaScript environment may add replies without waking the lane, outside of a
  // batch. Thread: the lane.
  bool IsTurnOpen() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->IsTurnOpen(); });
  }
  // True while a JavaScript environment reads records. Thread: any.
  bool IsDraining() const {
    return std::any_of(begin(), end(), [](const auto& one) { return one->signal().is_draining(); });
  }

 private:
  std::vector<std::unique_ptr<Attachment>> all_;
};

}  // namespace httpsys::engine
