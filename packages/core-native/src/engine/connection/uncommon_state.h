#pragma once

#include <memory>

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

  Relayed relayed;
  Origin origin;
  Refusal refusal;
};

}  // namespace httpsys::engine
