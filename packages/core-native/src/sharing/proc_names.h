#pragma once
// Abstract Unix names as /proc/net/unix lists them, where the kernel has no unix_diag.

#include <cstddef>
#include <string>
#include <vector>

namespace httpsys::sharing {

// Adds names that begin with `start` and under which any user listens in this network namespace,
// until there are `most`. Adds none on a system without the file. Thread: any.
void ListProcNames(const std::string& start, size_t most, std::vector<std::string>* names);

}  // namespace httpsys::sharing
