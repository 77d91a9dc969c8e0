#pragma once
// Who is at the other end of a connection between processes, according to the kernel.

#include <cstdint>

namespace httpsys::sharing {

struct Credentials {
  uint32_t uid = 0;
  uint32_t pid = 0;
};

}  // namespace httpsys::sharing
