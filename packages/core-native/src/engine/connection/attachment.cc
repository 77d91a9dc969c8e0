#include "engine/connection/attachment.h"

#include <random>

#include "base/process.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {

namespace {

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// The sum of the bytes that the attachments of the process last passed to TellBacklog(). Thread:
// any.
struct Backlogs {
  std::atomic<uint64_t> bytes{0};
};

}  // namespace

Attachment::Attachment(ControlBlock control, std::vector<std::span<uint8_t>> segments,
                       ConsumerSignal* signal, std::shared_ptr<BlockPool> pool,
                       const std::atomic<bool>* is_held, uint64_t queue_bytes_max)
    : control_(control),
      signal_(signal),
      requests_(std::move(segments), std::move(pool)),
      replies_(control, is_held),
      claimed_(&control_[records::kRequestsClaimed]),
      records_(&requests_, RandomSeed()),
      queue_bytes_max_(queue_bytes_max) {
  requests_.set_reading(&control_[records::kDispatchResume]);
}

void Attachment::TellBacklog(uint64_t bytes) {
  if (bytes == told_backlog_) return;
  // The difference may be negative: unsigned numbers wrap.
  OfProcess<Backlogs>().bytes.fetch_add(bytes - told_backlog_, std::memory_order_relaxed);
  told_backlog_ = bytes;
}

bool Attachment::LookWhetherFull() {
  const uint64_t begun = requests_.begun();
  unread_.Settle(begun);
  const uint64_t appended = requests_.appended();
  const uint64_t own = appended - std::min(begun, appended) + unread_.kept_bytes();
  TellBacklog(requests_.stalled() ? own : 0);
  const uint64_t counted =
      requests_.stalled()
          ? std::max(own, OfProcess<Backlogs>().bytes.load(std::memory_order_relaxed))
          : own;
  const bool is_full = own != 0 && counted >= queue_bytes_max_;
  const uint64_t room = is_full ? 0 : queue_bytes_max_ - std::min(counted, queue_bytes_max_);
  room_end_ = is_full ? 0 : appended + std::clamp<uint64_t>(room, 1, limits::kQueueLookBytes);
  return is_full;
}

uint64_t Attachment::BlockedMs(uint64_t now_ms) {
  const uint64_t begun = requests_.begun();
  if (begun != begun_ || !requests_.HasUnread()) {
    begun_ = begun;
    begun_at_ms_ = now_ms;
    return 0;
  }
  return now_ms - begun_at_ms_;
}

void Slots::Take(Connection* connection) {
  uint32_t number;
  if (free_.empty()) {
    number = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  slots_[number] = {connection, false, false};
  connection->slot.number_ = number;
  connection->slot.is_announced_ = true;
}

void Slots::Close(Connection* connection) {
  connection->slot.is_announced_ = false;
  Close(connection->slot.number_);
}

void Slots::Close(uint32_t number) {
  slots_[number].connection = nullptr;
  slots_[number].is_closed = true;
  FreeIfDone(number);
}

Connection* Slots::Find(uint32_t number) const {
  return number < slots_.size() ? slots_[number].connection : nullptr;
}

bool Slots::Release(uint32_t number) {
  if (number >= slots_.size() || slots_[number].is_released) return false;
  slots_[number].is_released = true;
  FreeIfDone(number);
  return true;
}

void Slots::FreeIfDone(uint32_t number) {
  if (slots_[number].is_closed && slots_[number].is_released) free_.push_back(number);
}

}  // namespace httpsys::engine
