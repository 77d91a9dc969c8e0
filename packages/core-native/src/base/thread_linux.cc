// The Linux part of thread.h: names threads, finds out how much CPU time another thread has used
// (its CPU clock) and whether it runs or sleeps (/proc/self/task/<id>/stat, proc(5)), and makes all
// threads pass a memory barrier (membarrier(2), Linux 4.14 and later).

#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/process.h"
#include "base/thread.h"

namespace httpsys {

void SetThreadName(const char* name) { pthread_setname_np(pthread_self(), name); }

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

namespace {

long Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// Registers the process, on a separate thread because the system call takes some 10 ms: it returns
// when every CPU has passed a certain point.
class BarrierRegistration {
 public:
  BarrierRegistration() {
    const SignalsBlocked blocked;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, Register, this) == 0) pthread_detach(thread);
  }
  bool is_done() const { return is_done_.load(); }

 private:
  static void* Register(void* argument) {
    // Fails if a container forbids the call.
    if (Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
      static_cast<BarrierRegistration*>(argument)->is_done_.store(true);
    return nullptr;
  }

  std::atomic<bool> is_done_{false};
};

}  // namespace

bool HasProcessBarrier() { return OfProcess<BarrierRegistration>().is_done(); }

void MakeProcessBarrier() { HTTPSYS_CHECK(Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0); }

}  // namespace httpsys
