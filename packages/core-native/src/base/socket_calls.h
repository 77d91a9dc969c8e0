#pragma once
// Differences between systems in calls on sockets.

#include <sys/socket.h>

#include <cerrno>

namespace httpsys {

// Flags for send(2) against SIGPIPE. Where it has none, sockets have an option (SuppressSigpipe()).
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;
#endif

inline bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace httpsys
