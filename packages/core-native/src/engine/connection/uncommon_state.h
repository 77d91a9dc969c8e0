#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rate_bucket.h"
#include "engine/connection/lane_server.h"
#include "files/read_ahead.h"
#include "records/addresses.h"
#include "records/records.h"

namespace httpsys::engine {

// The client of a relayed connection or stream, at the member that answers. The client is connected
// to another member, which relays its requests. Filled before the connection is made; later only
// Connection writes it.
struct RelayOrigin {
  // No link to another member has this number.
  static constexpr uint64_t kNoLink = UINT64_MAX;

  uint64_t link = 0;  // The number of the link to the member that relays.
  uint32_t id = 0;    // The relay's number on that link.
  // The bytes of answers given to the relay so far.
  uint64_t sent_bytes = 0;
  bool closes = false;       // The answer that is ending closes the client's connection.
  bool is_stream = false;    // A stream of HTTP/2 is relayed.
  bool is_end_told = false;  // The relaying member knows of the end of this relay.
  Addresses addresses;
  std::string facts;  // The client's TLS session, encoded as in kOpen; empty = no TLS.
  std::string trust;  // tls::Session::trust() of the client's TLS session.

  // True if this process's output cache made the request: the answer is not sent to another member.
  bool is_own() const { return link == kNoLink; }
};

// Base of Relay (peers/relays.h): the relay of a connection whose requests another member answers.
struct RelayState {};

// State that few connections need. Made on first use, and freed with the connection. Each part is
// written by one class only; all classes read the parts through Connection.
struct UncommonState {
  class Relayed {
    friend struct Connection;
    friend class Relays;
    RelayState* relay = nullptr;  // nullptr = no other member answers requests of the connection.
  };
  class Counted {
    friend struct Connection;
    friend class ConnectionLimits;
    struct Item {
      ConnectionCounts* counts;
      ConnectionCounts::Group group;
    };
    std::vector<Item> list_;  // The groups that the connection counts in.
    std::string relayed_;     // The argument `relayed` of ConnectionCounts::Add().
  };
  // The limit on the output of a connection or stream.
  class Bandwidth {
    friend struct Connection;
    friend class Throttle;
    std::shared_ptr<RateBucket> bucket;  // nullptr = no limit.
    uint64_t ticket = 0;    // The output waits for this ticket of the bucket; 0 = it does not wait.
    size_t allowance = 0;   // Bytes that were taken from the bucket, or that the ticket will allow.
    bool was_held = false;  // The output has waited since the last Throttle::TakeHeld().
  };
  // The file whose bytes are the next output of a connection or stream.
  class FileReading {
    friend struct Connection;
    friend class FileOutput;
    bool is_used = false;   // A member below may differ from its default.
    uint64_t wait = 0;      // Key in FileOutput::waiting_; 0 = the output does not wait for a file.
    uint64_t since_ms = 0;  // When the wait began, by the clock of the loop.
    bool was_held = false;  // The output has waited since the last FileOutput::TakeHeld().
    int error = 0;          // The errno of the last read; 0 = none.
    // The range of the file that was read ahead; empty if both are equal.
    uint64_t from = 0;
    uint64_t to = 0;
    // The bytes of that range; nullptr = the kernel has them in memory.
    std::shared_ptr<const files::FileBlock> block;
  };

  Relayed relayed;
  Counted counted;
  Bandwidth bandwidth;
  FileReading file_reading;

 private:
  friend struct Connection;
  std::unique_ptr<RelayOrigin> origin_;  // nullptr = the client is connected to this process.
  records::ErrorKind refusal_{};         // The reason for the refusal. Valid in phase kRefused.
};

}  // namespace httpsys::engine
