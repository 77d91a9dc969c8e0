#pragma once
// The user and process at the other end of a connection, as the kernel reports them.

#include <cstdint>

namespace httpsys::sharing {

struct Credentials {
  uint32_t uid = 0;
  uint32_t pid = 0;
};

}  // namespace httpsys::sharing
