#pragma once
// Portable flags and error checks for socket calls.

#include <sys/socket.h>

#include <cerrno>

namespace httpsys {

// Flags for send(2) that prevent SIGPIPE. On systems without MSG_NOSIGNAL, SuppressSigpipe() sets
// an option of the socket instead.
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;
#endif

inline bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace httpsys
