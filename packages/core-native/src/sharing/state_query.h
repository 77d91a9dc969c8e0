#pragma once
// Asks a port's coordinator who listens there.

#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::sharing {

// Blocks for up to `timeout_ms`. `query` is the payload of kStateQuery: empty, or a
// peer::CacheQuery. Returns 0 and JSON in the form of one of the `ports` of docs/cli.md, or a
// negative errno: -ECONNREFUSED if no process shares the port; -EACCES if another user's process
// has the port's meeting place; -ETIMEDOUT. The coordinator's answer is untrusted. Thread: any.
int QueryState(uint16_t port, uint64_t timeout_ms, std::string* text, std::string_view query = {});

}  // namespace httpsys::sharing
