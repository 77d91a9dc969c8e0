#include "engine/record_publisher.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {

RecordPublisher::RecordPublisher(uv_loop_t* loop, const Attachments* attachments,
                                 Transport* transport, Input* input, PortRouter* router)
    : attachments_(attachments), transport_(transport), input_(input), router_(router) {
  uv_timer_init(loop, &late_timer_);
  late_timer_.data = this;
}

void RecordPublisher::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&late_timer_), nullptr); }

void RecordPublisher::Publish(bool is_due) {
  if (std::exchange(is_due_, false)) is_due = true;
  bool has_waiting = false;
  Urgency highest = Urgency::kLate;
  for (const auto& one : *attachments_) {
    ResumeReceivers(one.get());
    // An urgent record takes along the records that may wait.
    const Urgency urgency = one->records().TakeUrgency();
    if (urgency == Urgency::kNow || is_due || one->requests().stalled() ||
        !one->waiting().empty()) {
      PublishNow(one.get());
    } else if (one->requests().HasUnpublished()) {
      has_waiting = true;
      highest = std::max(highest, urgency);
    }
  }
  if (!has_waiting) {
    uv_timer_stop(&late_timer_);
    return;
  }
  const uint64_t late_ms =
      highest == Urgency::kSoon ? limits::kOpenToldLateMs : limits::kToldLateMs;
  const bool is_set = uv_is_active(reinterpret_cast<uv_handle_t*>(&late_timer_)) != 0;
  if (is_set && uv_timer_get_due_in(&late_timer_) <= late_ms) return;
  uv_timer_start(
      &late_timer_,
      [](uv_timer_t* timer) { static_cast<RecordPublisher*>(timer->data)->MakeDue(); }, late_ms, 0);
}

// Resumes connections for which JavaScript has lent memory again.
void RecordPublisher::ResumeReceivers(Attachment* attachment) {
  while (Connection* next = attachment->receiving().Next()) input_->Resume(next, kPauseMemory);
}

void RecordPublisher::PublishNow(Attachment* attachment) {
  router_->choice().OnPublishing();
  attachment->Publish();
  if (attachment->HasDueReaders()) {
    ReadWaiting(attachment);
    attachment->Publish();
  }
  // Make JavaScript wake the lane when it next consumes records; if JavaScript has a backlog, it
  // does so anyway. The lane looks again before it sleeps.
  if (!attachment->waiting().empty()) attachment->requests().AskForWake();
}

// Resumes waiting connections and requests, oldest first, until JavaScript again has as much as it
// may have. The others keep their places. If JavaScript has begun requests meanwhile, the lane
// comes back (Attachments::HasDueReceivers()): replies must leave before each connection is read
// again.
void RecordPublisher::ReadWaiting(Attachment* attachment) {
  MemoryQueue& waiting = attachment->waiting();
  for (size_t turns = waiting.size(); turns != 0 && attachment->HasDueReaders(); --turns) {
    Connection* connection = waiting.Next();
    input_->ResumeWaiting(attachment, connection);
    // Read now: in the next poll, connections that have not waited could come first.
    transport_->ReadNow(connection);
  }
}

}  // namespace httpsys::engine
