#pragma once

#include "engine/connection/connection.h"

namespace httpsys::engine {

// Hears of requests that JavaScript was given and that it will not begin, because the lane has
// claimed them back. Whoever waits for their answers must look elsewhere at once: they may be read
// again, here or in another process, and would wait behind themselves. Thread: the lane.
class Withdrawals {
 public:
  // The newest unanswered request of the connection or stream will be read again.
  virtual void OnTakenBack(const Connection* connection) = 0;
  // The lane answers the oldest unanswered request, and those behind it get no answer.
  virtual void OnRefused(const Connection* connection) = 0;

 protected:
  ~Withdrawals() = default;
};

}  // namespace httpsys::engine
