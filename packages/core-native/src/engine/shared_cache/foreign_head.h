#pragma once

#include <cstdint>
#include <string_view>

namespace httpsys::engine {

// Returns true if this is the head of a final response with this status as stored_head.h describes
// heads, whose length is that of the body. The head comes from another process and may be any
// bytes: one that passes cannot end before its end, or make the next response of the connection
// begin elsewhere. Thread: any.
[[nodiscard]] bool IsSoundHead(std::string_view head, uint16_t status, uint64_t body_bytes);

}  // namespace httpsys::engine
