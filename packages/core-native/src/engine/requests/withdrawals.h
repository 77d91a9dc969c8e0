#pragma once

#include "engine/connection/connection.h"

namespace httpsys::engine {

// Events of requests that the lane has claimed back from JavaScript. In the output cache, a request
// may wait for the answer to a claimed request. That wait must end at once: otherwise a claimed
// request that is read again would wait for itself. Thread: the lane.
class Withdrawals {
 public:
  // Called when the newest unanswered request of the connection or stream will be read again.
  virtual void OnTakenBack(const Connection* connection) = 0;
  // Called when the lane answers the oldest unanswered request: requests behind it get no answer.
  virtual void OnRefused(const Connection* connection) = 0;

 protected:
  ~Withdrawals() = default;
};

}  // namespace httpsys::engine
