#pragma once
// Upgraded connections and tunnels whose bytes the application reads.

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "records/replies.h"

namespace httpsys::engine {

// In phase kUndecided, JavaScript has not named the protocol yet, and the lane keeps the bytes. In
// phase kOpaque, JavaScript gets the bytes as they arrive, within its window. Thread: the lane.
class UpgradedSession final : public Protocol {
 public:
  UpgradedSession(Transport* transport, Input* input) : transport_(transport), input_(input) {}

  std::span<char> Room(Connection* connection, std::span<char> shared) override;
  Advance OnReadable(Connection* connection, std::string_view input, size_t* used) override;
  void OnEof(Connection* connection) override;
  void OnTimeout(Connection* connection) override { transport_->Close(connection, 0); }
  bool OnReply(Connection* connection, const ReplyRecord& reply) override;

 private:
  Transport* transport_;
  Input* input_;
};

}  // namespace httpsys::engine
