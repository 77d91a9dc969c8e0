#pragma once
// The caches of other members, as the router sees them.

#include "engine/requests/arrived_request.h"
#include "http1/request_parser.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Answers requests by the caches of their owners. Thread: the lane.
class ForeignCache {
 public:
  // Answers a request for this target. Names and certificates were checked before: the client may
  // send the request to the owners. Asks owners whose cache is not known yet, for later requests.
  virtual AnswerOutcome Answer(const ArrivedRequest& request,
                               const sharing::PortRoutes::Target& target) = 0;
  // Answers a request whose owner was killed and has no successor.
  virtual AnswerOutcome AnswerOrphaned(const ArrivedRequest& request) = 0;
  // Returns true if Answer() would probably answer a first request on a plain connection.
  virtual bool Has(const http1::RequestHead& head, const sharing::PortRoutes::Target& target) = 0;

 protected:
  ~ForeignCache() = default;
};

}  // namespace httpsys::engine
