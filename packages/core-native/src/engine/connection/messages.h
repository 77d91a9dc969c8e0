#pragma once
// Records how far the messages of connections and streams have been read, and how many are
// answered.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/connection/connection.h"

namespace httpsys::engine {

// The one writer of MessageState, and of the reason of a refusal. Thread: the lane.
class Messages {
 public:
  // -- Time.

  // Begins a message: its timeouts count from `now_ns`.
  static void Begin(Connection* connection, uint64_t now_ns) {
    connection->message.start_ns_ = now_ns;
  }
  // Stops the timeouts of messages: the message was read or refused, or no message is expected yet.
  static void StopTime(Connection* connection) { connection->message.start_ns_ = 0; }

  // -- Requests.

  // Counts a request whose head was read. `is_last`: no other request follows.
  static void OnHead(Connection* connection, bool is_last) {
    connection->message.has_served_ = true;
    connection->message.is_last_ = is_last;
    ++connection->message.unanswered_;
  }
  // Records that the connection has had a request, without counting one.
  static void SetServed(Connection* connection) { connection->message.has_served_ = true; }
  static void SetLast(Connection* connection, bool is_last) {
    connection->message.is_last_ = is_last;
  }
  static void SetUnanswered(Connection* connection, uint32_t count) {
    connection->message.unanswered_ = count;
  }
  // Counts `count` requests as answered, or as no longer this connection's to answer.
  static void OnAnswered(Connection* connection, uint32_t count) {
    uint32_t& unanswered = connection->message.unanswered_;
    unanswered -= std::min(unanswered, count);
  }
  // Refuses the message that is being read: the connection enters phase kRefused.
  static void Refuse(Connection* connection, records::ErrorKind kind) {
    connection->Enter(InputPhase::kRefused);
    connection->uncommon().refusal.kind = kind;
  }
  // Sets the phase that follows if an upgrade is declined.
  static void SetDeclinedPhase(Connection* connection, InputPhase phase) {
    connection->message.declined_phase_ = phase;
  }

  // -- Parts of a message that is not whole.

  static void SetBodyBytes(Connection* connection, uint64_t bytes) {
    connection->message.body_bytes_ = bytes;
  }
  // Must be called when bytes of a body of known length were read.
  static void TakeBodyBytes(Connection* connection, uint64_t bytes) {
    connection->message.body_bytes_ -= bytes;
  }
  // Must be called when bytes of a chunked body were read.
  static void CountBodyBytes(Connection* connection, uint64_t bytes) {
    connection->message.body_bytes_ += bytes;
  }
  static void LendParser(Connection* connection, std::unique_ptr<http1::RequestParser> parser) {
    connection->message.parser_ = std::move(parser);
  }
  static std::unique_ptr<http1::RequestParser> TakeParser(Connection* connection) {
    return std::move(connection->message.parser_);
  }
  static void LendDecoder(Connection* connection, std::unique_ptr<http1::ChunkedDecoder> decoder) {
    connection->message.decoder_ = std::move(decoder);
  }
  static std::unique_ptr<http1::ChunkedDecoder> TakeDecoder(Connection* connection) {
    return std::move(connection->message.decoder_);
  }
  static void DropParser(Connection* connection) { connection->message.parser_.reset(); }
  static void DropDecoder(Connection* connection) { connection->message.decoder_.reset(); }
};

}  // namespace httpsys::engine
