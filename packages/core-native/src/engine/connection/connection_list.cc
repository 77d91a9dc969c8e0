#include "engine/connection/connection_list.h"

#include "engine/connection/attachment.h"

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
  // The connection waits for memory of a JavaScript environment: from now on, of its new server's.
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

}  // namespace httpsys::engine
