// Other threads on Linux, by their CPU clock and /proc/self/task/<id>/stat (proc(5)).

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/thread_watch.h"

namespace httpsys {

ThreadWatch WatchThisThread() {
  clockid_t clock;
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return {};
  return {clock, static_cast<int>(syscall(SYS_gettid))};
}

uint64_t CpuNsOf(const ThreadWatch& thread) {
  timespec time{};
  // clock_gettime() fails if the thread has ended.
  if (thread.id == 0 || clock_gettime(thread.clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

bool IsRunnable(const ThreadWatch& thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread.id);
  const int fd = thread.id == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[128];
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  // The state follows the name in parentheses, which may contain any character.
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && std::strncmp(name_end, ") R", 3) == 0;
}

}  // namespace httpsys
