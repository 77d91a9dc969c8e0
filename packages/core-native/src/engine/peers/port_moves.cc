#include "engine/peers/port_moves.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connected_socket.h"
#include "engine/connection/connection.h"
#include "engine/peers/port_admission.h"
#include "http1/request_host.h"

namespace httpsys::engine {
namespace {

// Returns true if `fd` is one end of a relay's socket pair.
bool IsUnixConnection(int fd) {
  int type = 0;
  int is_listening = 0;
  socklen_t size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) return false;
  size = sizeof is_listening;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0) return false;
  sockaddr_storage address{};
  size = sizeof address;
  return is_listening == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.ss_family == AF_UNIX;
}

}  // namespace

RequestRouter::Outcome PortMoves::Move(Port* port, Connection* connection, uint64_t member,
                                       std::string_view input) {
  HandedConnection handed;
  handed.hops = static_cast<uint8_t>(connection->sharing.hops() + 1);
  handed.home = choice_->HomeOf(connection, member);
  handed.bytes.assign(input);
  HandOver(port, connection, member, std::move(handed));
  return Outcome::kElsewhere;
}

void PortMoves::HandOver(Port* port, Connection* connection, uint64_t member,
                         HandedConnection handed) {
  handed.port = connection->local_port;
  port->statistics->handed_over.fetch_add(1, std::memory_order_relaxed);
  handed.returns = connection->sharing.returns();
  // Resets SO_RCVLOWAT, set while a part of a ClientHello had come: it would hide short messages
  // from the receiver.
  const bool is_marked =
      connection->phase() == InputPhase::kHandshake && connection->input.given_bytes() != 0;
  if (is_marked) SetReceiveLowWater(connection->fd, 1);
  handed.fd = transport_->Release(connection);
  if (handed.home == self_) choice_->OnLent();
  links_->HandOver(member, std::move(handed));
}

// Returns a connection that another member relays to this one, instead of passing it on: the member
// that has the client finds the owner anew, also for bytes that are still on their way.
RequestRouter::Outcome PortMoves::Return(Connection* connection, bool is_blocked) {
  if (connection->message.unanswered() != 0 || !connection->output.is_empty()) {
    return Outcome::kLater;
  }
  if (is_blocked) {
    links_->SendUnbegun(*connection->origin());
  } else {
    links_->SendReturned(*connection->origin());
  }
  connection->SetEndTold();
  transport_->Close(connection, 0);
  return Outcome::kElsewhere;
}

bool PortMoves::MoveAway(Connection* connection) {
  if (connection->origin() != nullptr) return Return(connection) == Outcome::kElsewhere;
  // The application has ended its direction: no member could send an answer.
  if (connection->end.is_fin_sent() || connection->end.after_output() != AfterOutput::kNothing)
    return false;
  Port* port = table_->Find(connection->local_port);
  if (port == nullptr || PortAdmission::IsPinned(connection) || IsRelayed(connection->phase()) ||
      connection->message.unanswered() != 0 || !connection->output.is_empty()) {
    return false;
  }
  LaneServer* other =
      connection->slot.is_announced() ? table_->ServerOn(port, connection->server()) : nullptr;
  if (other != nullptr && PortAdmission::SpeakAlike(connection, *other)) {
    transport_->Assign(connection, other);
    return true;
  }
  const size_t unhandled = connection->input.partial_bytes();
  if (unhandled + peer::kHandOverBytes > peer::kFrameBytesMax) return false;
  for (const uint64_t member : port->routes->peers()) {
    if (links_->Prepare(member) != PeerLinks::State::kReady) continue;
    HandedConnection handed;
    if (connection->message.has_served()) {
      const uint32_t idle_ms = connection->idle.timeout_ms();
      handed.idle_ms = idle_ms != 0 ? idle_ms : peer::kIdleForever;
    }
    if (connection->input.partial() != nullptr) handed.bytes = *connection->input.partial();
    HandOver(port, connection, member, std::move(handed));
    return true;
  }
  return false;
}

void PortMoves::Leave(Connection* connection) {
  // Streams end with the connection that carries them.
  if (connection->http2 != nullptr || connection->stream != nullptr) return;
  // A relayed request continues at its owner, and the closing server waits for its answer, or for
  // the end of its tunnel.
  if (IsRelayed(connection->phase())) return transport_->Announce(connection, records::kFlagShared);
  LaneServer* other = table_->ServerOn(table_->Find(connection->local_port), connection->server());
  if (other != nullptr && PortAdmission::SpeakAlike(connection, *other)) {
    ConnectionList::SetServer(connection, other);
  } else if (MoveAway(connection)) {
    return;
  } else if (connection->message.unanswered() != 0) {
    transport_->Announce(connection, records::kFlagShared);
  } else if (!PortAdmission::IsPinned(connection)) {
    // No server of this port could accept the first request.
    transport_->FinishAfterOutput(connection, AfterOutput::kClose);
  } else if (connection->phase() != InputPhase::kHandshake) {
    // The closing server waits for the connection's first request, and answers it.
    transport_->Announce(connection, records::kFlagShared);
    ConnectionTimers::LimitIdle(connection);
    transport_->StartIdleTimer(connection, connection->idle.timeout_ms());
  }
}

// Looks at the first request of an accepted connection before the connection belongs to this lane.
// Most often the request is there when the connection is accepted.
PortMoves::FirstLook PortMoves::PassOn(int fd, LaneServer** server, FirstBytes* first) {
  LocalAddress local;
  Port* port = table_->Find(LocalPort(fd, &local));
  if (port == nullptr || !port->routes->passes_on()) return FirstLook::kStays;
  if (port->routes->is_mixed() && !PortTable::Fits(*port, local, **server)) {
    return PassOnByAddress(port, fd, local, server);
  }
  // The bytes that this lane has already read must reach JavaScript first.
  if ((*server)->attachment->requests().stalled()) return FirstLook::kStays;
  // The ClientHello decides which server gets a TLS connection.
  if ((*server)->config->TlsOf(port->routes->port(), local) != nullptr) return FirstLook::kStays;
  if (buffer_.empty()) buffer_.resize(limits::kReadBytes);
  ssize_t got;
  do {
    got = recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return FirstLook::kTooEarly;
  // Ignore the end or error: the lane finds it again when it has opened the connection.
  if (got <= 0) return FirstLook::kStays;
  first->bytes = {buffer_.data(), static_cast<size_t>(got)};
  const ServerSettings& settings = (*server)->config->settings();
  if (parser_ == nullptr) parser_ = std::make_unique<http1::RequestParser>(methods_);
  parser_->Reset(settings.max_header_size, settings.max_header_lines);
  // Bytes that are no whole head of HTTP/1.1 may begin a connection of HTTP/2.
  if (parser_->Parse(first->bytes) != http1::ParseStatus::kDone) return FirstLook::kStays;
  if (HandOverNew(port, fd, local, first->bytes)) return FirstLook::kPassedOn;
  if (!settings.http2.is_alone) first->parser = std::move(parser_);
  return FirstLook::kStays;
}

// Passes on a connection whose address belongs to servers of the other scheme. Every member accepts
// on all sockets of a port: if this server has the wrong protocol for the address, the connection
// goes, untouched, to a server that has a prefix there.
PortMoves::FirstLook PortMoves::PassOnByAddress(Port* port, int fd, const LocalAddress& local,
                                                LaneServer** server) {
  const Routes::Place& place = *port->routes->FindPlace(local);
  if (LaneServer* other = table_->ServerAt(*port, local)) {
    *server = other;
    return FirstLook::kStays;
  }
  for (const uint64_t peer : place.peers) {
    if (links_->Prepare(peer) != PeerLinks::State::kReady) continue;
    HandedConnection handed;
    handed.fd = fd;
    handed.port = port->routes->port();
    handed.hops = 1;
    port->statistics->handed_over.fetch_add(1, std::memory_order_relaxed);
    links_->HandOver(peer, std::move(handed));
    return FirstLook::kPassedOn;
  }
  // No server with a prefix at this address is left.
  close(fd);
  return FirstLook::kPassedOn;
}

// Hands over a new connection with its first request. Returns false if a hand-over is not enough,
// or not possible now.
bool PortMoves::HandOverNew(Port* port, int fd, const LocalAddress& local, std::string_view bytes) {
  const http1::RequestHead& head = parser_->head();
  const HostName host = http1::HostOf(head);
  const Route route = port->routes->Find(host.name, head.target, local);
  const bool is_simple = host.is_valid && route.status == RouteStatus::kMatch &&
                         !port->routes->target(route.id).owners.empty() &&
                         !PortAdmission::HasMore(head, bytes.size() - parser_->head_bytes());
  if (!is_simple) return false;
  const Routes::Target& target = port->routes->target(route.id);
  if (caches_->Has(head, target)) return false;
  const uint32_t turn = port->turns[route.id];
  const Routes::Owner* owner = choice_->Choose(port, nullptr, route.id, false);
  if (owner->member == 0 || links_->Prepare(owner->member) != PeerLinks::State::kReady) {
    port->turns[route.id] = turn;
    return false;
  }
  HandedConnection handed;
  handed.fd = fd;
  handed.port = port->routes->port();
  handed.hops = 1;
  handed.home = choice_->HomeOf(nullptr, owner->member);
  if (handed.home == self_) choice_->OnLent();
  handed.bytes.assign(bytes);
  port->statistics->handed_over.fetch_add(1, std::memory_order_relaxed);
  links_->HandOver(owner->member, std::move(handed));
  return true;
}

bool PortMoves::CanTake(uint16_t number) const {
  const Port* port = table_->Find(number);
  return port != nullptr && !port->routes->local_servers().empty();
}

void PortMoves::OnHandedOver(HandedConnection connection) {
  if (Port* port = table_->Find(connection.port)) {
    port->statistics->received.fetch_add(1, std::memory_order_relaxed);
  }
  (void)Adopt(std::move(connection));
}

// Takes back a connection. Its member may have given up the prefix before this member knows it, so
// the request looks for its owner a little later, up to kReturnsMax times.
void PortMoves::OnTakenBack(HandedConnection handed) {
  if (handed.origin != nullptr) {
    close(handed.fd);
    return relays_->OnRefused(handed.origin->id);
  }
  if (handed.hops != 0) --handed.hops;
  std::string bytes = std::exchange(handed.bytes, {});
  const int returns = std::min<int>(handed.returns + 1, limits::kReturnsMax);
  Connection* connection = Adopt(std::move(handed));
  if (connection == nullptr || bytes.empty()) return;
  // Bytes that came in plain text must not be read as the beginning of bytes that come over TLS.
  if (connection->tls != nullptr) return transport_->Close(connection, 0);
  connection->input.KeepOnly(std::move(bytes));
  connection->sharing.SetReturns(static_cast<uint8_t>(returns));
  waiting_->WaitReturned(connection);
}

// Makes a connection of a descriptor that another member has sent or returned. Returns nullptr if
// the connection is closed.
Connection* PortMoves::Adopt(HandedConnection handed) {
  const Port* port = table_->Find(handed.port);
  LaneServer* server = table_->ServerOn(port, nullptr);
  LocalAddress local;
  const bool is_mixed = port != nullptr && port->routes->is_mixed() && handed.origin == nullptr &&
                        LocalPort(handed.fd, &local) == handed.port;
  if (is_mixed && server != nullptr && !PortTable::Fits(*port, local, *server)) {
    server = table_->ServerAt(*port, local);
  }
  // A peer may send any descriptor, so its kind is checked.
  const bool is_sound = handed.origin == nullptr || IsUnixConnection(handed.fd);
  if (server == nullptr || !is_sound) {
    close(handed.fd);
    return nullptr;
  }
  transport_->CountLoad();
  Connection* connection = transport_->Open(handed.fd, server, std::move(handed.origin));
  if (connection == nullptr) return nullptr;
  // Bytes that came in plain text must not be read as the beginning of bytes that come over TLS.
  const bool is_mixed_up = connection->tls != nullptr && !handed.bytes.empty();
  if (connection->local_port != handed.port || is_mixed_up) {
    transport_->Close(connection, 0);
    return nullptr;
  }
  connection->sharing.OnReceived(handed.hops);
  if (handed.home != 0 && handed.home != self_ && connection->origin() == nullptr) {
    choice_->Lend(connection, handed.home);
  }
  if (handed.idle_ms != 0) {
    connection->message.SetServed();
    connection->message.StopTime();
  }
  if (handed.idle_ms != 0 && handed.idle_ms != peer::kIdleForever) {
    ConnectionTimers::SetIdleTimeout(connection, handed.idle_ms);
    transport_->StartIdleTimer(connection, handed.idle_ms);
  }
  if (!handed.bytes.empty()) input_->Receive(connection, handed.bytes);
  transport_->Watch(connection);
  return connection->is_open() ? connection : nullptr;
}

}  // namespace httpsys::engine
