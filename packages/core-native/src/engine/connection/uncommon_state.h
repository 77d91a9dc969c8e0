#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "records/addresses.h"
#include "records/records.h"

namespace httpsys::engine {

// Base of peers/relays.h's Relay: the requests of a connection that another member answers.
struct RelayState {};

// The state of a relayed connection at the member that answers. The client is connected to another
// member, which relays a request or a stream.
struct RelayOrigin {
  uint64_t link = 0;  // The link to the member that relays.
  uint32_t id = 0;    // The relay's number on that link.
  // The bytes of answers given to the relay so far.
  uint64_t sent_bytes = 0;
  bool closes = false;       // The answer that is ending closes the client's connection.
  bool is_stream = false;    // A stream of HTTP/2 is relayed.
  bool is_end_told = false;  // The relaying member was told of the end of this relay.
  Addresses addresses;
  std::string facts;  // The client's TLS session, as kOpen has it; empty = no TLS.
  std::string trust;  // tls::Session::trust() of the client's TLS session.
};

// State that few connections need. Made on first use, and freed with the connection.
struct UncommonState {
  RelayState* relay = nullptr;          // Written by Relays. nullptr = no other member answers.
  std::unique_ptr<RelayOrigin> origin;  // nullptr = the client is connected to this process.
  records::ErrorKind refusal{};         // Why the request was refused. Valid in phase kRefused.
};

}  // namespace httpsys::engine
