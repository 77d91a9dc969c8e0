#include "engine/connection/socket_write.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/socket_calls.h"

namespace httpsys::engine {
namespace {

#ifdef MSG_MORE
constexpr int kMoreFlag = MSG_MORE;
#else
constexpr int kMoreFlag = 0;
#endif

}  // namespace

ssize_t WriteVectors(Connection* connection, iovec* vectors, int count, AfterWrite after) {
  if (connection->tls != nullptr) {
    return connection->tls->Write(vectors, count, after == AfterWrite::kEnd);
  }
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  const int flags = kSendFlags | MSG_DONTWAIT | (after == AfterWrite::kMore ? kMoreFlag : 0);
  ssize_t sent;
  do {
    sent = count == 1 ? send(connection->fd, vectors->iov_base, vectors->iov_len, flags)
                      : sendmsg(connection->fd, &message, flags);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace httpsys::engine
