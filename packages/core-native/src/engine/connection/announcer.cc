#include "engine/connection/announcer.h"

#include <memory>
#include <string>
#include <utility>

#include "base/limits.h"
#include "engine/connection/attachment.h"
#include "engine/connection/connection_list.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/input.h"
#include "engine/connection/output_pass.h"
#include "records/addresses.h"

namespace httpsys::engine {

void Announcer::Tell(Connection* connection, uint32_t flags) {
  connection->sharing.SetShared((flags & records::kFlagShared) != 0);
  Attachment& attachment = connection->attachment();
  attachment.slots().Take(connection);
  if (connection->stream != nullptr) return;
  if (handler_ != nullptr) handler_->OnAnnounced(connection);
  // The connection has kept its addresses until now. If it was announced before, they must be read
  // again.
  std::unique_ptr<Addresses> addresses = std::move(connection->announced.addresses_);
  if (addresses == nullptr) {
    addresses = std::make_unique<Addresses>(DescribeConnection(connection->fd, nullptr));
  }
  const bool has_secrets = connection->tls != nullptr && (flags & records::kFlagPending) == 0;
  if (has_secrets) {
    attachment.records().KeyLog(connection->slot.number(), connection->tls->TakeKeyLog());
  }
  std::string facts;
  if (connection->tls != nullptr) facts = EncodeFacts(connection->tls->Describe());
  if (connection->origin() != nullptr) facts = connection->origin()->facts;
  attachment.records().Open(connection->slot.number(), connection->server()->id, *addresses, flags,
                            facts);
}

void Announcer::AnnounceAnew(Connection* connection, uint32_t flags) {
  const SlotState before = connection->slot;
  Tell(connection, flags);
  if (!before.is_announced()) return;
  connection->attachment().records().Closed(before.number(), 0, false);
  connection->attachment().slots().Close(before.number());
}

void Announcer::Assign(Connection* connection, LaneServer* server) {
  if (connection->server() != server) {
    TellClosed(connection, 0, false);
    ConnectionList::SetServer(connection, server);
    ReceiveWindows::Reset(connection);
    OutputPass::ForgetCredit(connection);
    ConnectionTimers::SetIdleTimeout(connection, 0);
  }
  Announce(connection, records::kFlagShared);
}

void Announcer::TellUnseen(Connection* connection) {
  const uint32_t read = std::exchange(connection->unseen_read.bytes_, 0);
  const uint64_t written = std::exchange(connection->unseen_written.bytes_, 0);
  if (read == 0 && written == 0) return;
  connection->attachment().records().Unseen(connection->slot.number(), read, written);
}

void Announcer::TellClosed(Connection* connection, int error, bool is_told_late) {
  if (!connection->slot.is_announced()) return;
  TellUnseen(connection);
  Attachment& attachment = connection->attachment();
  if (connection->tls != nullptr && connection->tls->has_failed()) {
    attachment.records().TlsFailure(connection->slot.number(), connection->tls->failure());
    is_told_late = false;
  }
  attachment.records().Closed(connection->slot.number(), error, is_told_late);
  attachment.slots().Close(connection);
}

}  // namespace httpsys::engine
