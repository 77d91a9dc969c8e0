// The barrier of Linux: membarrier(2), since 4.14.

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "base/check.h"
#include "base/process.h"
#include "base/process_barrier.h"
#include "base/signals_blocked.h"

namespace httpsys {
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
