#include "engine/connection/connection_list.h"

namespace httpsys::engine {

void ConnectionList::Add(Connection* connection, LaneServer* server) {
  connection->server = server;
  ++server->connections;
  connection->next = first_;
  if (first_ != nullptr) first_->previous = connection;
  first_ = connection;
}

void ConnectionList::SetServer(Connection* connection, LaneServer* server) {
  --connection->server->connections;
  ++server->connections;
  connection->server = server;
}

void ConnectionList::Leave(Connection* connection) {
  --connection->server->connections;
  connection->server = nullptr;
  if (connection->stream == nullptr) load_->fetch_sub(1, std::memory_order_relaxed);
}

void ConnectionList::Remove(Connection* connection) {
  (connection->previous == nullptr ? first_ : connection->previous->next) = connection->next;
  if (connection->next != nullptr) connection->next->previous = connection->previous;
}

}  // namespace httpsys::engine
