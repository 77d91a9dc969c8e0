#pragma once
// Connections of this process among those that arrive under the name of a member.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sharing/meeting_place.h"

namespace httpsys::test {

// Waits up to 5 s for a connection that this process has made to `listener`. Test programs that run
// beside this one may connect, too: a process that doubts a coordinator tells every member of the
// user. Their connections are closed. So are those that this process has closed already: it looked
// whether the member is there.
// Returns the descriptor, -1 if there is none.
inline int AcceptOwnLink(int listener) {
  for (;;) {
    pollfd watched{listener, POLLIN, 0};
    if (poll(&watched, 1, 5000) != 1) return -1;
    const int fd = accept(listener, nullptr, nullptr);
    if (fd == -1) return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    sharing::Credentials who;
    const bool is_own =
        sharing::ReadCredentials(fd, &who) && who.pid == static_cast<uint32_t>(getpid());
    char byte;
    if (is_own && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) return fd;
    close(fd);
  }
}

}  // namespace httpsys::test
