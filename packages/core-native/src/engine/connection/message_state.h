#pragma once

#include <cstdint>
#include <memory>

#include "engine/connection/input_phase.h"
#include "http1/chunked_decoder.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// The requests of one connection or stream: the one that is being read, and how many have no answer
// yet. Only Messages writes it; everybody reads it.
class MessageState {
 public:
  // -- The message that is being read.

  uint64_t start_ns() const { return start_ns_; }  // 0 = no message has begun.
  // With a known length: the bytes of the body that are still to come. With a chunked body: the
  // bytes that have come.
  uint64_t body_bytes() const { return body_bytes_; }
  // The parser of a head, and the decoder of a chunked body: nullptr except within a message that
  // is not whole.
  http1::RequestParser* parser() const { return parser_.get(); }
  http1::ChunkedDecoder* decoder() const { return decoder_.get(); }
  // True if the message is the last one.
  bool is_last() const { return is_last_; }
  // The phase that follows kUpgradeDecline.
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
