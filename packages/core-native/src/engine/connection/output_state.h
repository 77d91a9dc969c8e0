#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/connection/output_queue.h"

namespace httpsys::engine {

// What one connection or stream still has to send. Everybody reads it, OutputPass alone writes it.
class OutputState {
 public:
  // Output that the socket did not take; nullptr = none. Exists without bytes, too, while the
  // session of TLS has sealed bytes to send.
  const OutputQueue* queue() const { return queue_.get(); }
  // True if nothing is to be sent, in this pass or later.
  bool is_empty() const { return queue_ == nullptr && first_piece_ == 0; }

 private:
  friend class OutputPass;

  // The list of the pieces that the current reply pass has for the connection; 0 = none.
  uint32_t first_piece_ = 0;
  uint32_t last_piece_ = 0;
  size_t pass_payload_bytes_ = 0;  // The payload of those pieces, as JavaScript counts.
  size_t queue_payload_bytes_ = 0;
  size_t credit_bytes_ = 0;  // Payload that has left since the last kCredit.
  std::unique_ptr<OutputQueue> queue_;
  bool is_touched_ = false;  // The current reply pass will flush the connection.
};

}  // namespace httpsys::engine
