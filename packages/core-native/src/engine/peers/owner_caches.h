#pragma once

#include <cstdint>
#include <optional>

#include "engine/connection/connection.h"
#include "engine/peers/port_table.h"
#include "engine/requests/request_router.h"
#include "http1/request_parser.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// The caches of other members, as the router sees them.
// Answers requests by the caches of their owners. Thread: the lane.
class ForeignCache {
 public:
  // Answers a request for this target from the caches of its owners. Names and certificates were
  // checked before: the client may send the request to the owners. Also requests unknown caches
  // from their owners, for later requests.
  virtual AnswerOutcome Answer(const ArrivedRequest& request,
                               const sharing::PortRoutes::Target& target) = 0;
  // Answers a request whose owner was killed and has no successor.
  virtual AnswerOutcome AnswerOrphaned(const ArrivedRequest& request) = 0;
  // Returns true if Answer() would probably answer a first request on a plain connection.
  virtual bool Has(const http1::RequestHead& head, const sharing::PortRoutes::Target& target) = 0;

 protected:
  ~ForeignCache() = default;
};

// Tries the caches of owners before a request, or its connection, goes to another member. Thread:
// the lane.
class OwnerCaches {
 public:
  using Outcome = RequestRouter::Outcome;

  // `table` has the statistics of the ports, which count answers.
  explicit OwnerCaches(PortTable* table) : table_(table) {}

  void Start(ForeignCache* foreign) { foreign_ = foreign; }

  // Returns nullopt if the caches of the owners do not answer.
  std::optional<Outcome> Answer(const ArrivedRequest& request,
                                const sharing::PortRoutes::Target& target) const {
    if (!target.has_peers || !MayTry(request.connection)) return std::nullopt;
    return OutcomeOf(foreign_->Answer(request, target), request.connection);
  }
  // Answers a request whose owner cannot be asked. Returns nullopt if no killed process has left an
  // answer.
  std::optional<Outcome> AnswerOrphaned(const ArrivedRequest& request) const {
    if (!MayTry(request.connection)) return std::nullopt;
    return OutcomeOf(foreign_->AnswerOrphaned(request), request.connection);
  }
  // Returns true if Answer() would probably answer a first request on a plain connection.
  bool Has(const http1::RequestHead& head, const sharing::PortRoutes::Target& target) const {
    return foreign_ != nullptr && target.has_peers && foreign_->Has(head, target);
  }

 private:
  // Returns false for throttled connections: their output counts for the bandwidth of the last
  // request's prefix.
  bool MayTry(const Connection* connection) const {
    return foreign_ != nullptr && !connection->is_throttled() &&
           !connection->real()->is_throttled();
  }
  std::optional<Outcome> OutcomeOf(AnswerOutcome outcome, const Connection* connection) const {
    if (outcome == AnswerOutcome::kNone) return std::nullopt;
    if (outcome == AnswerOutcome::kLater) return Outcome::kLater;
    if (PortTable::Port* port = table_->Find(connection->local_port)) {
      port->statistics->cache_answers.fetch_add(1, std::memory_order_relaxed);
    }
    return Outcome::kAnswered;
  }

  PortTable* table_;
  ForeignCache* foreign_ = nullptr;
};

}  // namespace httpsys::engine
