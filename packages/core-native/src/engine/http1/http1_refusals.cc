#include "engine/http1/http1_refusals.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/connection/messages.h"
#include "engine/connection/sharing_marks.h"

namespace httpsys::engine {

using records::ErrorKind;

void Http1Refusals::Refuse(Connection* connection, ErrorKind kind, std::string_view input,
                           std::string prefix) {
  const bool is_in_body = connection->phase() != InputPhase::kHead;
  Messages::StopTime(connection);
  transport_->StopTimer(connection);
  if (connection->end.after_output() != AfterOutput::kClose &&
      (connection->message.unanswered() != 0 ||
       connection->server()->config->settings().wants_errors)) {
    // The connection is still read, so that the lane sees the peer's end if JavaScript does not
    // close it.
    Messages::Refuse(connection, kind);
    transport_->Announce(connection, records::kFlagShared);
    Tell(connection, kind, input, std::move(prefix));
    return;
  }
  connection->Enter(InputPhase::kOver);
  SocketWatch::Pause(connection, kPauseOver);
  if (connection->end.after_output() == AfterOutput::kClose) return;
  if (connection->end.is_fin_sent()) {
    transport_->Close(connection, 0);
    return;
  }
  answers_->AnswerRefused(this, connection, kind, is_in_body);
}

// Node names the place of a fault in what it has read last.
void Http1Refusals::Tell(Connection* connection, ErrorKind kind, std::string_view input,
                         std::string prefix) {
  std::string_view segment = input_->segment();
  if (segment.empty()) segment = input;
  const size_t before = input.size() - std::min(input.size(), segment.size());
  prefix.append(input.substr(0, before));
  // A larger read is several of Node's.
  size_t from = segment.size() - (input.size() - before);
  segment.remove_prefix(from - from % limits::kRawBytesMax);
  from %= limits::kRawBytesMax;
  connection->attachment().records().Error(connection->slot.number(), kind,
                                           {segment.substr(0, limits::kRawBytesMax), prefix, from});
}

// Reports further bytes of a refused message as further errors, as llhttp does in its error state.
// A body that came too late or is too large is well-formed, so its bytes are thrown away.
void Http1Refusals::RefuseMore(Connection* connection, std::string_view input) {
  if (connection->refusal() == ErrorKind::kTimeout ||
      connection->refusal() == ErrorKind::kBodyTooLarge) {
    return;
  }
  connection->attachment().records().Error(connection->slot.number(), connection->refusal(),
                                           {input.substr(0, limits::kRawBytesMax), {}, 0});
}

void Http1Refusals::WriteAnswer(Connection* connection, const NativeAnswer& answer) {
  if (answer.was_queued) {
    connection->Enter(InputPhase::kOver);
    SocketWatch::Pause(connection, kPauseOver);
  }
  answers_->Append(connection, answer);
  // The member that relays a refused message learns of the refusal from the end of the connection.
  const bool is_relayed =
      connection->origin() != nullptr && answer.counter != LaneCounter::kRefused;
  if (is_relayed) {
    answers_->Send(connection);
    SharingMarks::SetAnswerCloses(connection, answer.closes);
    router_->OnRelayedAnswer(connection);
  }
  if (answer.closes) transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  answers_->EndAnswer(connection, answer.closes || is_relayed);
}

void Http1Refusals::ResetRequest(Connection* connection, bool) {
  answers_->Flush(connection);
  transport_->Reset(connection);
}

}  // namespace httpsys::engine
