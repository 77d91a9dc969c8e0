#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "records/addresses.h"
#include "records/records.h"

namespace httpsys::engine {

// The requests of a connection that another member answers: peers/relays derives from it.
struct RelayState {};

// A connection that is one end of a relay: the client's is with another member.
struct RelayOrigin {
  uint64_t link = 0;  // Over which it came.
  uint32_t id = 0;
  uint64_t sent_bytes = 0;
  bool closes = false;       // With the answer that ends now.
  bool is_stream = false;    // The client's is one of HTTP/2.
  bool is_end_told = false;  // To whoever relays it.
  Addresses addresses;
  std::string facts;  // Of its TLS, as kOpen has them; empty = plain.
  std::string trust;  // tls::Session::trust() of that.
};

// What few connections need. Made when it is first needed, freed with the connection.
struct UncommonState {
  RelayState* relay = nullptr;          // Written by Relays; nullptr = no other member answers.
  std::unique_ptr<RelayOrigin> origin;  // Of a connection that another member relays.
  records::ErrorKind refusal{};         // Why the request was refused. Valid in phase kRefused.
};

}  // namespace httpsys::engine
