#include "engine/new_connections.h"

#include <unistd.h>

#include "engine/connection/connection_limits.h"

namespace httpsys::engine {

void NewConnections::Add(uint32_t server_id, const std::vector<int>& fds) {
  for (const int fd : fds) accepted_.push_back({server_id, fd});
}

void NewConnections::Open(bool may_wait) {
  for (const Accepted& accepted : accepted_) {
    if (!Take(accepted, may_wait)) early_.push_back(accepted);
  }
  accepted_.clear();
}

void NewConnections::OpenEarly() {
  for (const Accepted& accepted : early_) Take(accepted, false);
  early_.clear();
}

bool NewConnections::Take(const Accepted& accepted, bool may_wait) {
  PortRouter& router = *parts_->router;
  const auto found = parts_->servers.find(accepted.server_id);
  const bool is_welcome = found != parts_->servers.end() && !is_closed_;
  LaneServer* server = is_welcome ? found->second.get() : nullptr;
  PortMoves::FirstBytes first;
  PortMoves::FirstLook look = PortMoves::FirstLook::kStays;
  if (is_welcome && router.has_peers()) {
    look = router.moves().PassOn(accepted.fd, &server, &first);
  }
  if (look == PortMoves::FirstLook::kTooEarly && may_wait) return false;
  const bool is_passed_on = look == PortMoves::FirstLook::kPassedOn;
  const bool is_full =
      is_welcome && !is_passed_on && ConnectionLimits::IsFull(accepted.fd, *server);
  if (is_full) parts_->answers->CountRefusedConnection(accepted.fd, *server);
  if (!is_welcome || is_passed_on || is_full) {
    if (!is_passed_on) close(accepted.fd);
    load_->fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  Transport& transport = *parts_->transport;
  Connection* connection = transport.Open(accepted.fd, server);
  if (connection == nullptr) return true;
  // Check again: another lane may have reached the limit meanwhile.
  if (!ConnectionLimits::MayBegin(connection)) {
    parts_->answers->CountRefusedConnection(accepted.fd, *server);
    transport.Reset(connection);
    return true;
  }
  if (connection->tls == nullptr && !router.IsShared(connection->local_port)) {
    transport.Announce(connection, 0);
  } else if (!first.bytes.empty()) {
    if (first.parser != nullptr) connection->message.LendParser(std::move(first.parser));
    parts_->input->Receive(connection, first.bytes);
  }
  transport.Watch(connection);
  return true;
}

}  // namespace httpsys::engine
