#pragma once
// The caches of other members, as the router sees them.

#include <cstdint>

#include "engine/connection/connection.h"
#include "engine/requests/native_answer.h"
#include "http1/request_parser.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Answers requests by the caches of their owners. Thread: the lane.
class ForeignCache {
 public:
  enum class Outcome : uint8_t {
    kNone,   // No entry answers.
    kGiven,  // The request is answered.
    kLater,  // An entry will answer when earlier requests of the connection have their answers.
  };

  struct Request {
    AnswerWriter* writer;
    Connection* connection;  // The connection, or a stream of HTTP/2.
    const http1::RequestHead& head;
    bool closes;  // The connection ends with the answer.
  };

  // Answers a request for this target. Names and certificates were checked before: the client may
  // send the request to the owners. Asks owners whose cache is not known yet, for later requests.
  virtual Outcome Answer(const Request& request, const sharing::PortRoutes::Target& target) = 0;
  // Answers a request whose owner was killed and has no successor.
  virtual Outcome AnswerOrphaned(const Request& request) = 0;
  // Returns true if Answer() would probably answer a first request on a plain connection.
  virtual bool Has(const http1::RequestHead& head, const sharing::PortRoutes::Target& target) = 0;

 protected:
  ~ForeignCache() = default;
};

}  // namespace httpsys::engine
