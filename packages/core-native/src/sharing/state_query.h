#pragma once
// Asks a port's coordinator who listens there.

#include <cstdint>
#include <string_view>

#include "backend/port_report.h"

namespace httpsys::sharing {

// Blocks for up to `timeout_ms`. `query` is the payload of kStateQuery: empty, or a
// CacheQuestion. Returns 0, or a negative errno: -ECONNREFUSED if no process shares the port;
// -EACCES if another user's process has the port's meeting place; -EPROTO if the answer is no
// report of this port; -ETIMEDOUT. The texts in the report are untrusted. Thread: any.
int QueryState(uint16_t port, uint64_t timeout_ms, PortReport* report, std::string_view query = {});

}  // namespace httpsys::sharing
