#pragma once

#include <uv.h>

#include "engine/connection/attachment.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/port_router.h"

namespace httpsys::engine {

// Makes the records of a lane visible to JavaScript. Waking JavaScript costs more than all its work
// for the begin or end of a connection, so such records may wait for others. Thread: the lane.
class RecordPublisher {
 public:
  RecordPublisher(uv_loop_t* loop, const Attachments* attachments, Transport* transport,
                  Input* input, PortRouter* router);
  RecordPublisher& operator=(RecordPublisher&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Publishes the records of every attachment, except records that may wait. `is_due`: publishes
  // these, too.
  void Publish(bool is_due);
  // Makes the next Publish() publish all records.
  void MakeDue() { is_due_ = true; }

 private:
  void ResumeReceivers(Attachment* attachment);
  void PublishNow(Attachment* attachment);
  void ReadWaiting(Attachment* attachment);

  const Attachments* attachments_;
  Transport* transport_;
  Input* input_;
  PortRouter* router_;
  uv_timer_t late_timer_;
  bool is_due_ = false;
};

}  // namespace httpsys::engine
