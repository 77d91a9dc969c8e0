#pragma once
// Moves descriptors of the engine to high numbers. Portable flags of socket calls.
//
// A program that closes a descriptor twice closes whichever descriptor has got its number
// meanwhile. The system assigns the smallest free number, so the engine's new descriptors would be
// affected. Therefore long-lived descriptors get numbers that programs hardly ever use. Client
// sockets keep their numbers, as in Node. Thread: any.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace httpsys {

// Smallest number of the engine's own descriptors: above the other descriptors of a program with
// few connections, and cheap for the kernel, whose table (8 KiB) extends to the highest number.
inline constexpr int kOwnDescriptorsFrom = 1024;
// Replaces kOwnDescriptorsFrom if the limit of the process (ulimit -n) is too low for it.
inline constexpr int kOwnDescriptorsFromAtLeast = 64;

// Returns a close-on-exec duplicate with a high number, or -1 and errno.
inline int DuplicateAsOwn(int fd) {
  for (const int from : {kOwnDescriptorsFrom, kOwnDescriptorsFromAtLeast}) {
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (copy != -1) return copy;
  }
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

// Moves a descriptor to a high number. Returns its new number, or `fd` itself if its number is high
// already, no number is free, or `fd` is negative (an error).
inline int MoveToOwn(int fd) {
  if (fd < 0 || fd >= kOwnDescriptorsFrom) return fd;
  const int copy = DuplicateAsOwn(fd);
  if (copy == -1) return fd;
  if (copy < fd) {
    close(copy);
    return fd;
  }
  close(fd);
  return copy;
}

// -- Portable flags and error checks for socket calls.

// Flags for send(2) that prevent SIGPIPE. On systems without MSG_NOSIGNAL, SuppressSigpipe() sets
// an option of the socket instead.
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;
#endif

inline bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace httpsys
