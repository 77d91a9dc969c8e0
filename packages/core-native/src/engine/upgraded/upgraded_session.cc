#include "engine/upgraded/upgraded_session.h"

#include <algorithm>

namespace httpsys::engine {

std::span<char> UpgradedSession::Room(Connection* connection, std::span<char> shared) {
  if (connection->phase() == InputPhase::kUndecided) {
    if (!Endings::IsUndecidedFull(*connection)) return shared;
    SocketWatch::Pause(connection, kPauseUpgrade);
    transport_->CloseIfRefusedUpgrade(connection);
    return {};
  }
  if (connection->input.window_bytes() <= 0) {
    // Keep watching the socket: JavaScript usually enlarges the window before the next poll.
    SocketWatch::Pause(connection, kPauseWindow);
    return {};
  }
  return shared.first(
      std::min<uint64_t>(shared.size(), static_cast<uint64_t>(connection->input.window_bytes())));
}

Protocol::Advance UpgradedSession::OnReadable(Connection* connection, std::string_view input,
                                              size_t* used) {
  if (connection->phase() == InputPhase::kUndecided) return Advance::kWait;
  if (connection->input.window_bytes() <= 0) {
    SocketWatch::Pause(connection, kPauseWindow);
    return Advance::kWait;
  }
  const std::string_view piece =
      input.substr(0, static_cast<size_t>(connection->input.window_bytes()));
  connection->attachment().records().Body(connection->slot.number(), piece);
  ReceiveWindows::Use(connection, piece.size());
  *used = piece.size();
  return Advance::kGoOn;
}

void UpgradedSession::OnEof(Connection* connection) {
  const bool is_kept =
      connection->input.partial() != nullptr || connection->input.given_bytes() != 0;
  if (connection->phase() == InputPhase::kUndecided && is_kept) {
    // After its decision, JavaScript gets the kept bytes first. Then the lane finds the end again.
    SocketWatch::Pause(connection, kPauseUpgrade);
    connection->attachment().records().Eof(connection->slot.number(), records::kFlagUndecided);
    return;
  }
  transport_->OnPeerEnded(connection);
  connection->attachment().records().Eof(connection->slot.number());
  if (connection->end.is_fin_sent()) transport_->Close(connection, 0);
}

bool UpgradedSession::OnReply(Connection* connection, const ReplyRecord& reply) {
  if (reply.type() != records::ReplyType::kUpgradeAccept) return false;
  if (connection->phase() != InputPhase::kUndecided) return true;
  connection->Enter(InputPhase::kOpaque);
  connection->input.SetGiven(0);
  input_->Resume(connection, kPauseUpgrade);
  return true;
}

}  // namespace httpsys::engine
