#pragma once

#include <optional>

#include "engine/connection/connection.h"
#include "engine/peers/foreign_cache.h"
#include "engine/peers/port_table.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"
#include "http1/request_parser.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Tries the caches of owners before a request, or its connection, goes to another member. Thread:
// the lane.
class OwnerCaches {
 public:
  using Outcome = RequestRouter::Outcome;

  // `table` has the statistics of the ports, which count answers.
  explicit OwnerCaches(PortTable* table) : table_(table) {}

  // Sets the caches, and the writers of answers for the two versions of HTTP.
  void Start(ForeignCache* foreign, AnswerWriter* http1, AnswerWriter* http2) {
    foreign_ = foreign;
    http1_ = http1;
    http2_ = http2;
  }

  // Returns nullopt if the caches of the owners do not answer. `is_last`: the connection ends with
  // this answer, even if the client wants to keep it.
  std::optional<Outcome> Answer(Connection* connection, const http1::RequestHead& head,
                                const sharing::PortRoutes::Target& target, bool is_last) const;
  // Answers a request whose owner cannot be asked. Returns nullopt if no killed process has left an
  // answer.
  std::optional<Outcome> AnswerOrphaned(Connection* connection, const http1::RequestHead& head,
                                        bool is_last) const;
  // Returns true if Answer() would probably answer a first request on a plain connection.
  bool Has(const http1::RequestHead& head, const sharing::PortRoutes::Target& target) const {
    return foreign_ != nullptr && target.has_peers && foreign_->Has(head, target);
  }

 private:
  bool MayTry(const Connection* connection) const;
  ForeignCache::Request RequestOf(Connection* connection, const http1::RequestHead& head,
                                  bool is_last) const;
  std::optional<Outcome> OutcomeOf(ForeignCache::Outcome outcome,
                                   const Connection* connection) const;

  PortTable* table_;
  ForeignCache* foreign_ = nullptr;
  AnswerWriter* http1_ = nullptr;
  AnswerWriter* http2_ = nullptr;
};

}  // namespace httpsys::engine
