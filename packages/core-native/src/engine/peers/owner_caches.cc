#include "engine/peers/owner_caches.h"

namespace httpsys::engine {

// Not for throttled connections: their output counts for the bandwidth of the last request's
// prefix.
bool OwnerCaches::MayTry(const Connection* connection) const {
  return foreign_ != nullptr && !connection->is_throttled() && !connection->real()->is_throttled();
}

ForeignCache::Request OwnerCaches::RequestOf(Connection* connection, const http1::RequestHead& head,
                                             bool is_last) const {
  const bool is_stream = connection->stream != nullptr;
  return {is_stream ? http2_ : http1_, connection, head,
          !is_stream && (is_last || !head.keep_alive)};
}

std::optional<RequestRouter::Outcome> OwnerCaches::OutcomeOf(ForeignCache::Outcome outcome,
                                                             const Connection* connection) const {
  switch (outcome) {
    case ForeignCache::Outcome::kNone:
      break;
    case ForeignCache::Outcome::kGiven:
      if (PortTable::Port* port = table_->Find(connection->local_port)) {
        port->statistics->cache_answers.fetch_add(1, std::memory_order_relaxed);
      }
      return Outcome::kAnswered;
    case ForeignCache::Outcome::kLater:
      return Outcome::kLater;
  }
  return std::nullopt;
}

std::optional<RequestRouter::Outcome> OwnerCaches::Answer(Connection* connection,
                                                          const http1::RequestHead& head,
                                                          const sharing::PortRoutes::Target& target,
                                                          bool is_last) const {
  if (!target.has_peers || !MayTry(connection)) return std::nullopt;
  return OutcomeOf(foreign_->Answer(RequestOf(connection, head, is_last), target), connection);
}

std::optional<RequestRouter::Outcome> OwnerCaches::AnswerOrphaned(Connection* connection,
                                                                  const http1::RequestHead& head,
                                                                  bool is_last) const {
  if (!MayTry(connection)) return std::nullopt;
  return OutcomeOf(foreign_->AnswerOrphaned(RequestOf(connection, head, is_last)), connection);
}

}  // namespace httpsys::engine
