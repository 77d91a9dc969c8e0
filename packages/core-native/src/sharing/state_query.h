#pragma once
// Asks a port's coordinator who listens there.

#include <cstdint>
#include <string>

namespace httpsys::sharing {

// Blocks, for up to that long. 0 and JSON (its form: docs/port-sharing.md), or a negative errno:
// -ECONNREFUSED when nobody shares the port, -EACCES when somebody else's process has its place,
// -ETIMEDOUT. What the coordinator says is untrusted. Thread: any.
int QueryState(uint16_t port, uint64_t timeout_ms, std::string* text);

}  // namespace httpsys::sharing
