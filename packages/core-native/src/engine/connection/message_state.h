#pragma once

#include <cstdint>
#include <memory>

#include "engine/connection/input_phase.h"
#include "http1/chunked_decoder.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// The requests of one connection or stream: the request that is being read, and the number of
// requests without an answer. Only Messages writes it; everybody reads it.
class MessageState {
 public:
  // -- The message that is being read.

  // When the message began; 0 = no message has begun.
  uint64_t start_ns() const { return start_ns_; }
  // For a body of known length: its bytes that are still to come. For a chunked body: its bytes
  // that have come.
  uint64_t body_bytes() const { return body_bytes_; }
  // The parser of a head that is not complete or waits, and the decoder of a chunked body that has
  // begun; otherwise nullptr.
  http1::RequestParser* parser() const { return parser_.get(); }
  http1::ChunkedDecoder* decoder() const { return decoder_.get(); }
  // True if a head has begun that is not complete.
  bool is_head_begun() const {
    return parser_ != nullptr && parser_->status() == http1::ParseStatus::kNeedMore;
  }
  // True if the message is the last one of the connection.
  bool is_last() const { return is_last_; }
  // The phase that follows if JavaScript declines the upgrade (kUpgradeDecline).
  InputPhase declined_phase() const { return declined_phase_; }

  // -- All messages.

  // True if a request has been read.
  bool has_served() const { return has_served_; }
  // The number of requests that were read and have no whole answer yet.
  uint32_t unanswered() const { return unanswered_; }

 private:
  friend class Messages;

  uint64_t start_ns_ = 0;
  uint64_t body_bytes_ = 0;
  std::unique_ptr<http1::RequestParser> parser_;
  std::unique_ptr<http1::ChunkedDecoder> decoder_;
  uint32_t unanswered_ = 0;
  InputPhase declined_phase_ = InputPhase::kHead;
  bool is_last_ : 1 = false;
  bool has_served_ : 1 = false;
};

}  // namespace httpsys::engine
