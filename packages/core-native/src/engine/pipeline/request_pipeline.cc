#include "engine/pipeline/request_pipeline.h"

#include "base/limits.h"

namespace httpsys::engine {
namespace {

uint32_t FlagsOf(const http1::RequestHead& head) {
  uint32_t flags = 0;
  if (head.keep_alive) flags |= records::kFlagKeepAlive;
  if (head.upgrade) flags |= records::kFlagUpgrade;
  if (head.has_host) flags |= records::kFlagHasHost;
  if (head.expect == http1::Expectation::kContinue) flags |= records::kFlagExpectContinue;
  if (head.expect == http1::Expectation::kOther) flags |= records::kFlagExpectOther;
  if (head.body == http1::BodyKind::kChunked) flags |= records::kFlagChunked;
  const bool has_body = head.body != http1::BodyKind::kNone;
  return flags | (has_body ? records::kFlagHasBody : records::kFlagComplete);
}

}  // namespace

RequestPipeline::Next RequestPipeline::Take(ArrivedRequest* request) {
  Connection* connection = request->connection;
  const http1::RequestHead& head = request->head;
  Route& route = request->route;
  request->closes = !MayKeepAlive(*request);
  if (router_->MustRoute(connection->real())) {
    switch (router_->FindServer(request)) {
      case RequestRouter::Outcome::kHere:
        break;
      case RequestRouter::Outcome::kUnrouted:
        return AnswerUnserved(request, route.status);
      case RequestRouter::Outcome::kLater:
        return Next::kWaitTurn;
      case RequestRouter::Outcome::kElsewhere:
        return Next::kGone;
      case RequestRouter::Outcome::kRelayed:
        return Next::kRelayed;
      case RequestRouter::Outcome::kAnswered:
        return Next::kAnswered;
    }
    // Decide again: FindServer() may have given the connection to a server with other settings.
    request->closes = !MayKeepAlive(*request);
  } else {
    const ServerConfig& config = *connection->server()->config;
    route = config.FindPrefix(connection->local_port, head, connection->local_ip);
    if (route.status != RouteStatus::kMatch) return AnswerUnserved(request, route.status);
  }
  const uint64_t body_max = connection->server()->config->settings().max_request_body_size;
  if (body_max != 0 && head.content_length > body_max) {
    return request->writer->IsTurn(*connection) ? Next::kTooLarge : Next::kWaitTurn;
  }
  if (!throttle_->Begin(connection, route.id)) return Next::kWaitTurn;
  RouteStatus refusal = RequestGate::Admit(connection, head.target, route.id);
  if (refusal != RouteStatus::kMatch) return AnswerUnserved(request, refusal);
  AnswerOutcome outcome = statics_->Serve(*request);
  if (outcome == AnswerOutcome::kNone) outcome = cached_->Answer(*request);
  if (outcome == AnswerOutcome::kLater) return Next::kWaitTurn;
  if (outcome != AnswerOutcome::kNone) return Next::kAnswered;
  refusal = RequestGate::AdmitToQueue(connection);
  if (refusal != RouteStatus::kMatch) return AnswerUnserved(request, refusal);
  return gate_->Parks(connection, route) ? Next::kWaitMemory : Next::kDeliver;
}

// Returns true if the connection can stay open after an answer of the lane itself.
bool RequestPipeline::MayKeepAlive(const ArrivedRequest& request) const {
  const Connection* connection = request.connection;
  const http1::RequestHead& head = request.head;
  if (connection->stream != nullptr) return true;
  const bool is_expected = head.expect != http1::Expectation::kNone && head.has_body();
  // A closed server keeps the connection alive if the port has other members, which get it when it
  // is idle.
  const bool is_last =
      connection->server()->is_unlistened && !router_->IsShared(connection->local_port);
  // A relayed upgrade is not kept alive: the member that has the client waits for the decision.
  const bool is_undecided = head.upgrade && connection->origin() != nullptr;
  return head.keep_alive && !head.is_connect && !is_undecided && !is_expected && !is_last &&
         head.content_length <= limits::kLingerBytesMax;
}

// Answers a request without an owner, as HTTP.SYS does, or one that its server refuses.
RequestPipeline::Next RequestPipeline::AnswerUnserved(ArrivedRequest* request, RouteStatus status) {
  const bool is_refused = status == RouteStatus::kBadUrl || status == RouteStatus::kBadHost ||
                          status == RouteStatus::kTooManyConnections;
  NativeAnswers::Unserved unserved{status, &request->head};
  // An upgrade that gets this answer ends the connection as well: its client has no further use for
  // it.
  unserved.closes = is_refused || request->head.upgrade || request->closes;
  request->closes = unserved.closes;
  const AnswerOutcome outcome =
      answers_->AnswerUnserved(request->writer, request->connection, unserved);
  return outcome == AnswerOutcome::kLater ? Next::kWaitTurn : Next::kAnswered;
}

RecordWriter::Request RequestPipeline::BeginRecord(const ArrivedRequest& request) {
  Connection* connection = request.connection;
  router_->CountRequest(connection, request.route.id);
  RecordWriter::Request record;
  record.slot = connection->slot.number();
  record.server_id = connection->server()->id;
  record.prefix_id = request.route.id;
  record.flags = FlagsOf(request.head) | RequestGate::ClaimFlag(connection, request.route);
  record.arrival_ns = clock_->Ns();
  record.head_bytes = request.head_bytes;
  connection->message.OnHead(!request.head.keep_alive);
  cached_->OnDelivered(connection);
  return record;
}

void RequestPipeline::Deliver(const ArrivedRequest& request, const RecordWriter::Request& record,
                              std::string_view whole) {
  Connection* connection = request.connection;
  connection->attachment().records().RequestHead(cached_->HeadFor(connection, request.head),
                                                 record);
  gate_->AddUnread(connection, request.head, request.route, whole);
}

}  // namespace httpsys::engine
