#pragma once
// What differs between systems in calls on sockets.

#include <sys/socket.h>

#include <cerrno>

namespace httpsys {

// No SIGPIPE. Where send(2) has no flag against it, the socket has an option.
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;
#endif

inline bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace httpsys
