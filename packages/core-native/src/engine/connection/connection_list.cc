#include "engine/connection/connection_list.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "engine/connection/attachment.h"
#include "engine/connection/connected_socket.h"
#include "records/addresses.h"

namespace httpsys::engine {

void ConnectionList::Add(Connection* connection, LaneServer* server) {
  connection->list.server_ = server;
  ++server->connections;
  connection->list.next_ = first_;
  if (first_ != nullptr) first_->list.previous_ = connection;
  first_ = connection;
}

void ConnectionList::SetServer(Connection* connection, LaneServer* server) {
  --connection->server()->connections;
  ++server->connections;
  Attachment& before = connection->attachment();
  connection->list.server_ = server;
  if (&before == server->attachment || !connection->input.waits_for_segment()) return;
  // The connection waits for memory of its old server's JavaScript environment: let it wait for
  // that of its new server's.
  before.waiting().Remove(connection);
  server->attachment->waiting().Add(connection);
}

void ConnectionList::Leave(Connection* connection) {
  --connection->server()->connections;
  connection->list.server_ = nullptr;
  if (connection->stream == nullptr) load_->fetch_sub(1, std::memory_order_relaxed);
}

void ConnectionList::Remove(Connection* connection) {
  ListState& list = connection->list;
  list.life_ = Life::kClosing;
  (list.previous_ == nullptr ? first_ : list.previous_->list.next_) = list.next_;
  if (list.next_ != nullptr) list.next_->list.previous_ = list.previous_;
}

Connection* ConnectionList::Make(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin) {
  const ServerSettings& settings = server->config->settings();
  Addresses addresses = origin == nullptr ? DescribeConnection(fd, nullptr) : origin->addresses;
  if (addresses.family != 0 && origin == nullptr) {
    if (settings.no_delay) SetNoDelay(fd, true);
    if (settings.keep_alive) SetKeepAlive(fd, true, settings.keep_alive_initial_delay);
  }
  SuppressSigpipe(fd);
  auto* connection = new Connection(fd, std::move(addresses));
  connection->message.Begin(uv_hrtime());
  ConnectionTimers::SetActive(connection, timers_->NowMs());
  if (origin != nullptr) connection->SetOrigin(std::move(origin));
  Add(connection, server);
  return connection;
}

Connection* ConnectionList::MakeStream(Connection* parent, LaneServer* server,
                                       std::unique_ptr<Http2Stream> stream) {
  auto* connection = new Connection(*parent, std::move(stream));
  ConnectionTimers::SetActive(connection, timers_->NowMs());
  Add(connection, server);
  return connection;
}

bool ConnectionList::BeginTls(Connection* connection) {
  const ServerConfig& config = *connection->server()->config;
  std::shared_ptr<const tls::ServerContext> context =
      config.TlsOf(connection->local_port, connection->local_ip);
  if (context == nullptr || connection->origin() != nullptr) return true;
  const uint64_t timeout_ms = context->settings().handshake_timeout;
  const tls::Maker maker{connection->server()->id, config.settings().listening};
  connection->tls = tls::Session::Create(std::move(context), connection->fd, &sealed_,
                                         connection->local_port, maker);
  if (connection->tls == nullptr) return false;
  connection->Enter(InputPhase::kHandshake);
  connection->message.StopTime();
  if (timeout_ms != 0) timers_->Start(connection, timeout_ms);
  return true;
}

void ConnectionList::End(Connection* connection) {
  if (connection->list.life() == Life::kClosing) return;
  if (connection->stream != nullptr) {
    Remove(connection);
    ended_.emplace_back(connection);
    return;
  }
  const int fd = connection->fd;
  // The member that handed the connection over keeps a descriptor until it has read the
  // acknowledgement, so close() alone would not end the connection.
  if (connection->sharing.hops() != 0) shutdown(fd, SHUT_RDWR);
  EndWithoutClosing(connection);
  close(fd);
}

void ConnectionList::EndWithoutClosing(Connection* connection) {
  timers_->Stop(connection);
  Remove(connection);
  if (!watch_->End(connection)) ended_.emplace_back(connection);
}

}  // namespace httpsys::engine
