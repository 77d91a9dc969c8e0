#include "engine/http1/http1_answers.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {

using records::ErrorKind;

void Http1Answers::Refuse(Connection* connection, ErrorKind kind, std::string_view input,
                          std::string prefix) {
  const bool is_in_body = connection->phase() != InputPhase::kHead;
  connection->message.StopTime();
  transport_->StopTimer(connection);
  if (kind == ErrorKind::kBodyTooLarge && is_in_body && connection->message.unanswered() == 0) {
    // The request is answered: the client would take a second answer for that of its next request.
    answers_->CountRefusedBody(connection, false);
    connection->Enter(InputPhase::kOver);
    SocketWatch::Pause(connection, kPauseOver);
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
    return transport_->output()->Flush(connection);
  }
  if (connection->end.after_output() != AfterOutput::kClose &&
      (connection->message.unanswered() != 0 ||
       connection->server()->config->settings().wants_errors)) {
    // Keep reading, so that the lane sees the client's end if JavaScript does not close the
    // connection.
    connection->Refuse(kind);
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

// Reports the fault as Node does: with the last bytes read and the offset of the fault in them.
void Http1Answers::Tell(Connection* connection, ErrorKind kind, std::string_view input,
                        std::string prefix) {
  std::string_view segment = input_->segment();
  if (segment.empty()) segment = input;
  const size_t before = input.size() - std::min(input.size(), segment.size());
  prefix.append(input.substr(0, before));
  // Drop whole reads of Node's size (kRawBytesMax) before the fault: Node reports only the last
  // one.
  size_t from = segment.size() - (input.size() - before);
  segment.remove_prefix(from - from % limits::kRawBytesMax);
  from %= limits::kRawBytesMax;
  connection->attachment().records().Error(connection->slot.number(), kind,
                                           {segment.substr(0, limits::kRawBytesMax), prefix, from});
}

// Reports further bytes of a refused message as further errors, as llhttp does in its error state.
// A body that was refused for its size or time is well-formed: its further bytes are dropped.
void Http1Answers::RefuseMore(Connection* connection, std::string_view input) {
  if (connection->refusal() == ErrorKind::kTimeout ||
      connection->refusal() == ErrorKind::kBodyTooLarge) {
    return;
  }
  connection->attachment().records().Error(connection->slot.number(), connection->refusal(),
                                           {input.substr(0, limits::kRawBytesMax), {}, 0});
}

void Http1Answers::WriteAnswer(Connection* connection, const NativeAnswer& answer) {
  if (answer.was_queued) {
    connection->Enter(InputPhase::kOver);
    SocketWatch::Pause(connection, kPauseOver);
  }
  answers_->Append(connection, answer);
  // For a refused message the relaying member needs no notice: the connection ends.
  const bool is_relayed =
      connection->origin() != nullptr && answer.counter != LaneCounter::kRefused;
  if (is_relayed) {
    answers_->Send(connection);
    connection->SetAnswerCloses(answer.closes);
    router_->OnRelayedAnswer(connection);
  }
  if (answer.closes) transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  answers_->EndAnswer(connection, answer.closes || is_relayed);
}

void Http1Answers::ResetRequest(Connection* connection, bool) {
  answers_->Flush(connection);
  transport_->Reset(connection);
}

}  // namespace httpsys::engine
