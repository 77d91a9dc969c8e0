#include "engine/connection/connection_factory.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "engine/connection/messages.h"
#include "engine/connection/sharing_marks.h"
#include "engine/connection/socket_options.h"
#include "records/addresses.h"

namespace httpsys::engine {

Connection* ConnectionFactory::Make(int fd, LaneServer* server,
                                    std::unique_ptr<RelayOrigin> origin) {
  const ServerSettings& settings = server->config->settings();
  Addresses addresses = origin == nullptr ? DescribeConnection(fd, nullptr) : origin->addresses;
  if (addresses.family != 0 && origin == nullptr) {
    if (settings.no_delay) SetNoDelay(fd, true);
    if (settings.keep_alive) SetKeepAlive(fd, true, settings.keep_alive_initial_delay);
  }
  SuppressSigpipe(fd);
  auto* connection = new Connection(fd, std::move(addresses));
  Messages::Begin(connection, uv_hrtime());
  ConnectionTimers::SetActive(connection, timers_->NowMs());
  if (origin != nullptr) SharingMarks::SetOrigin(connection, std::move(origin));
  connections_->Add(connection, server);
  return connection;
}

Connection* ConnectionFactory::MakeStream(Connection* parent, LaneServer* server,
                                          std::unique_ptr<Http2Stream> stream) {
  auto* connection = new Connection(*parent, std::move(stream));
  ConnectionTimers::SetActive(connection, timers_->NowMs());
  connections_->Add(connection, server);
  return connection;
}

bool ConnectionFactory::BeginTls(Connection* connection) {
  const ServerConfig& config = *connection->server()->config;
  std::shared_ptr<const tls::ServerContext> context =
      config.TlsOf(connection->local_port, connection->local_ip);
  if (context == nullptr || connection->origin() != nullptr) return true;
  const uint64_t timeout_ms = context->settings().handshake_timeout_ms;
  const tls::Maker maker{connection->server()->id, config.settings().listening};
  connection->tls = tls::Session::Create(std::move(context), connection->fd, &sealed_,
                                         connection->local_port, maker);
  if (connection->tls == nullptr) return false;
  connection->Enter(InputPhase::kHandshake);
  Messages::StopTime(connection);
  if (timeout_ms != 0) timers_->Start(connection, timeout_ms);
  return true;
}

void ConnectionFactory::End(Connection* connection) {
  if (connection->list.life() == Life::kClosing) return;
  if (connection->stream != nullptr) {
    connections_->Remove(connection);
    connections_->FreeLater(connection);
    return;
  }
  const int fd = connection->fd;
  // The member that handed the connection over keeps a descriptor until it has read the
  // acknowledgement, so close() alone would not end the connection.
  if (connection->sharing.hops() != 0) shutdown(fd, SHUT_RDWR);
  EndWithoutClosing(connection);
  close(fd);
}

void ConnectionFactory::EndWithoutClosing(Connection* connection) {
  timers_->Stop(connection);
  connections_->Remove(connection);
  if (!watch_->End(connection)) connections_->FreeLater(connection);
}

}  // namespace httpsys::engine
