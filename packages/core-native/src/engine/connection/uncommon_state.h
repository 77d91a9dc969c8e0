#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "records/addresses.h"
#include "records/records.h"

namespace httpsys::engine {

// The requests of a connection that another member answers: peers/relays derives from it.
struct RelayState {};

// One end of a relay. The client is connected to another member, which relays a request or stream.
struct RelayOrigin {
  uint64_t link = 0;  // The link to the member that relays.
  uint32_t id = 0;    // The relay's number on that link.
  uint64_t sent_bytes = 0;
  bool closes = false;       // The answer that ends now closes the connection.
  bool is_stream = false;    // A stream of HTTP/2 is relayed.
  bool is_end_told = false;  // The member that relays was told of the end.
  Addresses addresses;
  std::string facts;  // The client's TLS session, as kOpen has it; empty = no TLS.
  std::string trust;  // tls::Session::trust() of the client's TLS session.
};

// State that few connections need. It is made when it is first needed, and freed with the
// connection.
struct UncommonState {
  RelayState* relay = nullptr;          // Written by Relays; nullptr = no other member answers.
  std::unique_ptr<RelayOrigin> origin;  // nullptr = the client is connected to this process.
  records::ErrorKind refusal{};         // Why the request was refused. Valid in phase kRefused.
};

}  // namespace httpsys::engine
