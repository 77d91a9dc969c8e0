#pragma once
// Facts about the connection of a request that decide which entries may answer the request.

#include "engine/connection/connection.h"
#include "records/record_writer.h"

namespace httpsys::engine {

// True if IsSecure() or WasAskedForCertificate() may be true: a cheap test that saves both calls.
inline bool MayBeSecure(const Connection* connection) {
  const Connection* real = connection->real();
  return real->tls != nullptr || real->origin() != nullptr;
}

// True if the client speaks TLS, to this member or to the one that relays the request.
inline bool IsSecure(const Connection* connection) {
  const Connection* real = connection->real();
  return real->tls != nullptr || (real->origin() != nullptr && !real->origin()->facts.empty());
}

// True if the server has requested a certificate from the client, whether the client has shown one
// or not: answers may depend on it.
inline bool WasAskedForCertificate(const Connection* connection) {
  const Connection* real = connection->real();
  if (real->tls != nullptr) return real->tls->requests_certificate();
  return real->origin() != nullptr && TermsOf(real->origin()->facts).is_asked;
}

}  // namespace httpsys::engine
