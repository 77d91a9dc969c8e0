// The barrier of Linux: membarrier(2), since 4.14.

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "base/process_barrier.h"

namespace httpsys {
namespace {

long Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

bool HasProcessBarrier() {
  // A process registers once, before the first barrier; a container may not let it.
  static const bool is_registered = Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return is_registered;
}

void MakeProcessBarrier() { HTTPSYS_CHECK(Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0); }

}  // namespace httpsys
