#include "base/allowance.h"

#include <algorithm>

namespace httpsys {

bool Allowance::Take(uint64_t now_ms, uint32_t most, uint32_t per_second) {
  const uint64_t now = now_ms / 1000;
  const uint64_t passed = now - std::min(now, second);
  second = now;
  used -= static_cast<uint32_t>(std::min<uint64_t>(used, passed * per_second));
  return ++used <= most;
}

}  // namespace httpsys
