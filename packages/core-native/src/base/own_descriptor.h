#pragma once
// Numbers of descriptors that the engine keeps for itself.
//
// A program that closes a number once too often closes whatever has got that number meanwhile. The
// system gives the smallest free number, so what the engine opens would be what is hit. Descriptors
// that stay open are therefore moved to numbers that programs hardly ever have. Sockets of clients
// keep theirs, as in Node. Thread: any.

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace httpsys {

// The smallest number of a descriptor that the engine keeps: beyond what a program opens beside
// connections, and cheap for the kernel, whose table reaches to the highest number (8 KiB).
inline constexpr int kOwnDescriptorsFrom = 1024;
// The same where the process may have fewer descriptors (ulimit -n).
inline constexpr int kOwnDescriptorsFromAtLeast = 64;

// Returns a close-on-exec duplicate, or -1 and errno.
inline int DuplicateAsOwn(int fd) {
  for (const int from : {kOwnDescriptorsFrom, kOwnDescriptorsFromAtLeast}) {
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (copy != -1) return copy;
  }
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

// Moves a descriptor. Returns its new number; the same one if it is high already, or if there is no
// room. A negative number, which is an error, is returned as it is.
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

}  // namespace httpsys
