#include "engine/connection/lingering.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/limits.h"
#include "base/socket_calls.h"
#include "engine/connection/connection_list.h"

namespace httpsys::engine {
namespace {

// Size of reads of lingering input. The input is thrown away, so the size only matters for the
// number of calls.
constexpr size_t kDiscardBytes = 16 * 1024;

}  // namespace

void Lingering::Begin(Connection* connection) {
  ConnectionList::SetLingering(connection);
  if (connection->end.peer_ended()) {
    factory_->End(connection);
  } else if (connection->end.has_read_all() && !watch_->AreDescriptorsLow()) {
    // The client sends only its end after its last request. Look a little later, when it has
    // probably ended, instead of waking the lane for it.
    SocketWatch::PauseOnly(connection, kPauseOver);
    watch_->Update(connection);
    watch_->LeaveAlone(connection, true);
  } else {
    Watch(connection);
  }
}

void Lingering::Watch(Connection* connection) {
  OnReadable(connection);
  if (connection->list.life() == Life::kClosing) return;
  SocketWatch::PauseOnly(connection, 0);
  watch_->Update(connection);
  timers_->Start(connection, limits::kLingerMs);
}

void Lingering::OnReadable(Connection* connection) {
  char buffer[kDiscardBytes];
  for (int i = 0; i < limits::kReadsPerEvent; ++i) {
    // The bytes are discarded, encrypted or not.
    const ssize_t got = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && IsWouldBlock(errno)) return;
    if (got > 0) {
      uint32_t& discarded_bytes = connection->linger.discarded_bytes_;
      discarded_bytes += static_cast<uint32_t>(got);
      if (discarded_bytes < limits::kLingerBytesMax) continue;
    }
    factory_->End(connection);
    return;
  }
}

}  // namespace httpsys::engine
