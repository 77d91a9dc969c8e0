#pragma once

#include <cstdint>
#include <string_view>

namespace httpsys::engine {

// Checks a response head that another process has stored, which may be any bytes. Returns true if
// it is well formed (stored_head.h), has this final status, and its Content-Length is `body_bytes`:
// then it cannot falsify where the connection's next response begins. Thread: any.
[[nodiscard]] bool IsSoundHead(std::string_view head, uint16_t status, uint64_t body_bytes);

}  // namespace httpsys::engine
