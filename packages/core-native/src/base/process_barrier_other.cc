// For systems without a barrier for all threads of a process.

#include "base/process_barrier.h"

namespace httpsys {

bool HasProcessBarrier() { return false; }

void MakeProcessBarrier() {}

}  // namespace httpsys
