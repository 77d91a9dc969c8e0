// Unix sockets of all other systems.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/unix_sockets.h"

namespace httpsys {

int OpenUnixSocket() { return portable::OpenUnixSocket(); }

bool OpenUnixPair(int* ends) { return portable::OpenUnixPair(ends); }

bool ReadUnixPeer(int fd, uint32_t* uid, uint32_t* pid) {
  uid_t user = 0;
  gid_t group = 0;
  if (getpeereid(fd, &user, &group) != 0) return false;
  pid_t process = 0;
#ifdef LOCAL_PEERPID
  socklen_t size = sizeof process;
  getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &process, &size);
#endif
  *uid = user;
  *pid = static_cast<uint32_t>(process);
  return true;
}

}  // namespace httpsys
