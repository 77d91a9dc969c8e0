#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/connection/output_queue.h"

namespace httpsys::engine {

// The unsent output of one connection or stream. Only OutputPass writes it; everybody reads it.
class OutputState {
 public:
  // The output that the socket did not take; nullptr = none. The queue may be empty while bytes
  // that TLS has sealed are still to be sent.
  const OutputQueue* queue() const { return queue_.get(); }
  // True if there is no unsent output, of this pass or of earlier ones.
  bool is_empty() const { return queue_ == nullptr && first_piece_ == 0; }

 private:
  friend class OutputPass;

  // The first and last piece of the connection in the current reply pass; 0 = none.
  uint32_t first_piece_ = 0;
  uint32_t last_piece_ = 0;
  size_t pass_payload_bytes_ = 0;  // The payload of these pieces, as JavaScript counts it.
  // The payload in the queue, as JavaScript counts it.
  size_t queue_payload_bytes_ = 0;
  std::unique_ptr<OutputQueue> queue_;
  uint32_t credit_bytes_ = 0;  // The payload that was sent since the last kCredit record.
  bool has_file_ = false;      // A piece of this pass is a part of a file.
  bool is_touched_ = false;    // The next FlushTouched() flushes the connection.
};

}  // namespace httpsys::engine
