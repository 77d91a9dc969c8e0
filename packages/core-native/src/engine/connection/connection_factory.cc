#include "engine/connection/connection_factory.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/limits.h"
#include "engine/connection/socket_options.h"
#include "records/addresses.h"

namespace httpsys::engine {

Connection* ConnectionFactory::Make(int fd, LaneServer* server,
                                    std::unique_ptr<RelayOrigin> origin) {
  auto* connection = new Connection;
  const ServerSettings& settings = server->config->settings();
  connection->addresses = std::make_unique<Addresses>(
      origin == nullptr ? DescribeConnection(fd, nullptr) : origin->addresses);
  const Addresses& addresses = *connection->addresses;
  if (addresses.family != 0 && origin == nullptr) {
    if (settings.no_delay) SetNoDelay(fd, true);
    if (settings.keep_alive) SetKeepAlive(fd, true, settings.keep_alive_delay_s);
  }
  SuppressSigpipe(fd);
  connection->fd = fd;
  connection->window_bytes = limits::kReceiveWindowBytes;
  connection->message_start_ns = uv_hrtime();
  if (origin != nullptr) connection->uncommon().origin = std::move(origin);
  connection->local_port = addresses.local_port;
  connection->local_ip = addresses.local_ip;
  connections_->Add(connection, server);
  return connection;
}

Connection* ConnectionFactory::MakeStream(Connection* parent, LaneServer* server,
                                          std::unique_ptr<Http2Stream> stream) {
  auto* connection = new Connection(InputPhase::kStream);
  connection->window_bytes = limits::kReceiveWindowBytes;
  connection->local_port = parent->local_port;
  connection->local_ip = parent->local_ip;
  connection->hops = parent->hops;
  connection->stream = std::move(stream);
  connections_->Add(connection, server);
  return connection;
}

bool ConnectionFactory::BeginTls(Connection* connection) {
  const ServerConfig& config = *connection->server->config;
  std::shared_ptr<const tls::ServerContext> context =
      config.TlsOf(connection->local_port, connection->local_ip);
  if (context == nullptr || connection->origin() != nullptr) return true;
  const uint64_t timeout_ms = context->settings().handshake_timeout_ms;
  const tls::Maker maker{connection->server->id, config.settings().listening};
  connection->tls = tls::Session::Create(std::move(context), connection->fd, &sealed_,
                                         connection->local_port, maker);
  if (connection->tls == nullptr) return false;
  connection->Enter(InputPhase::kHandshake);
  connection->message_start_ns = 0;
  if (timeout_ms != 0) timers_->Start(connection, timeout_ms);
  return true;
}

void ConnectionFactory::End(Connection* connection) {
  if (connection->life == Life::kClosing) return;
  connection->life = Life::kClosing;
  if (connection->stream != nullptr) {
    connections_->Remove(connection);
    connections_->FreeLater(connection);
    return;
  }
  const int fd = connection->fd;
  // The member that handed the connection over keeps a descriptor until it has read the
  // acknowledgement, so close() alone would not end the connection.
  if (connection->hops != 0) shutdown(fd, SHUT_RDWR);
  LetGo(connection);
  close(fd);
}

void ConnectionFactory::EndWithoutClosing(Connection* connection) {
  connection->life = Life::kClosing;
  LetGo(connection);
}

void ConnectionFactory::LetGo(Connection* connection) {
  timers_->Stop(connection);
  connections_->Remove(connection);
  if (!watch_->End(connection)) connections_->FreeLater(connection);
}

}  // namespace httpsys::engine
