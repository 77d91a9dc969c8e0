#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/connection/connection_counts.h"
#include "engine/connection/relay_origin.h"
#include "records/records.h"

namespace httpsys::engine {

// Base of peers/relays.h's Relay: the requests of a connection that another member answers.
struct RelayState {};

// State that few connections need. Made on first use, and freed with the connection. Each part has
// one class that writes it; Connection lets everybody read them.
struct UncommonState {
  class Relayed {
    friend struct Connection;
    friend class Relays;
    RelayState* relay = nullptr;  // nullptr = no other member answers.
  };
  class Origin {
    friend struct Connection;
    friend class SharingMarks;
    std::unique_ptr<RelayOrigin> origin;  // nullptr = the client is connected to this process.
  };
  class Refusal {
    friend struct Connection;
    friend class Messages;
    records::ErrorKind kind{};  // Why the request was refused. Valid in phase kRefused.
  };

  class Counted {
    friend struct Connection;
    friend class ConnectionLimits;
    struct Item {
      ConnectionCounts* counts;
      ConnectionCounts::Group group;
    };
    std::vector<Item> list_;  // What the connection counts for.
    std::string relayed_;     // As in ConnectionCounts::Add().
  };

  Relayed relayed;
  Origin origin;
  Refusal refusal;
  Counted counted;
};

}  // namespace httpsys::engine
