#pragma once

#include <cstdint>
#include <string>

#include "records/addresses.h"

namespace httpsys::engine {

// The client of a relayed connection or stream, at the member that answers. The client is connected
// to another member, which relays its requests. Filled before the connection is made; later only
// SharingMarks writes it.
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

}  // namespace httpsys::engine
