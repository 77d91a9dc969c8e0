#include "engine/peers/relay_input.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace httpsys::engine {

Protocol::Advance RelayInput::OnReadable(Connection* connection, std::string_view input,
                                         size_t* used) {
  if (connection->phase() == InputPhase::kRelayUpgrade) return Advance::kWait;
  if (!router_->CanRelay(connection)) {
    SocketWatch::Pause(connection, kPauseRelay);
    return Advance::kWait;
  }
  switch (connection->phase()) {
    case InputPhase::kRelayLength:
      return ReadLength(connection, input, used);
    case InputPhase::kRelayChunked:
      return ReadChunked(connection, input, used);
    default:
      *used = input.size();
      router_->RelayMore(connection, input);
      return Advance::kGoOn;
  }
}

Protocol::Advance RelayInput::ReadLength(Connection* connection, std::string_view input,
                                         size_t* used) {
  *used = std::min<uint64_t>(input.size(), connection->message.body_bytes());
  router_->RelayMore(connection, input.substr(0, *used));
  connection->message.TakeBodyBytes(*used);
  if (connection->message.body_bytes() == 0) exchanges_->MessageDone(connection);
  return Advance::kGoOn;
}

Protocol::Advance RelayInput::ReadChunked(Connection* connection, std::string_view input,
                                          size_t* used) {
  const http1::ChunkedDecoder::Step step = connection->message.decoder()->Next(input);
  *used = step.status == http1::DecodeStatus::kError ? input.size() : step.consumed_bytes;
  router_->RelayMore(connection, input.substr(0, *used));
  if (step.status == http1::DecodeStatus::kError) {
    // The answering member finds the same error, and sends the error response.
    connection->Enter(InputPhase::kOver);
    SocketWatch::Pause(connection, kPauseOver);
    return Advance::kWait;
  }
  if (step.status == http1::DecodeStatus::kEnd) {
    exchanges_->ReturnDecoder(connection->message.TakeDecoder());
    exchanges_->MessageDone(connection);
  }
  return *used == 0 ? Advance::kWait : Advance::kGoOn;
}

void RelayInput::OnEof(Connection* connection) {
  if (connection->phase() != InputPhase::kRelayOpaque) return text_->OnEof(connection);
  transport_->OnPeerEnded(connection);
  if (router_->RelayEnd(connection)) {
    // The answering member decides what the client's end means.
    if (connection->end.is_fin_sent()) transport_->Close(connection, 0);
    return;
  }
  text_->OnEof(connection);
}

void RelayInput::Begin(Connection* connection, const http1::RequestHead& head) {
  connection->message.OnHead(!head.keep_alive);
  InputPhase body = exchanges_->BeginBody(connection, head);
  if (body == InputPhase::kBodyLength) body = InputPhase::kRelayLength;
  if (body == InputPhase::kBodyChunked) body = InputPhase::kRelayChunked;
  connection->message.StopTime();
  if (head.upgrade) {
    connection->message.SetDeclinedPhase(body);
    connection->Enter(InputPhase::kRelayUpgrade);
    SocketWatch::Pause(connection, kPauseUpgrade);
  } else if (body == InputPhase::kHead) {
    exchanges_->MessageDone(connection);
  } else {
    connection->Enter(body);
  }
}

void RelayInput::OnUpgrade(Connection* connection, bool is_accepted) {
  connection->Enter(is_accepted ? InputPhase::kRelayOpaque : connection->message.declined_phase());
  if (is_accepted) connection->message.DropDecoder();
  if (connection->phase() == InputPhase::kHead) exchanges_->MessageDone(connection);
  input_->Resume(connection, kPauseUpgrade);
}

bool RelayInput::CanTakeBack(const Connection* connection) {
  switch (connection->phase()) {
    case InputPhase::kHead:
    case InputPhase::kAfterClose:
    case InputPhase::kRefused:
    case InputPhase::kOver:
      return true;
    default:
      return IsRelayed(connection->phase()) && connection->phase() != InputPhase::kRelayOpaque;
  }
}

void RelayInput::TakeBack(Connection* connection, std::string_view requests, uint32_t count) {
  connection->sharing.OnTakenBack();
  Exchanges::ReadAgain(connection, requests, count);
  SocketWatch::Resume(connection, kPauseRelay);
}

void RelayInput::AnswerLost(Connection* connection, std::string_view requests) {
  const ServerSettings& settings = connection->server()->config->settings();
  http1::RequestParser parser(methods_);
  parser.Reset(settings.max_header_size, settings.max_header_lines);
  const bool is_known = !requests.empty() && parser.Parse(requests) == http1::ParseStatus::kDone;
  NativeAnswers::Unserved request{RouteStatus::kOffline, is_known ? &parser.head() : nullptr};
  request.closes = request.was_relayed = true;
  request.serves_any_method = !is_known;
  (void)answers_->AnswerUnserved(writer_, connection, request);
}

}  // namespace httpsys::engine
