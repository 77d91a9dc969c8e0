#pragma once
// Asks the kernel of Linux about abstract Unix names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::sharing {

// Abstract Unix names as /proc/net/unix lists them, where the kernel has no unix_diag.
// Adds names that begin with `start` and under which any user listens in this network namespace,
// until there are `most`. Adds none on a system without the file. Thread: any.
void ListProcNames(const std::string& start, size_t most, std::vector<std::string>* names);

// Reads the uid of the socket that has the name in this network namespace, even if no process
// listens under it. Returns false if the name is free or the uid unknown (Linux before 5.3, or
// without unix_diag). Takes some microseconds per Unix socket of the namespace. Thread: any.
bool UidOfAbstractName(const std::string& name, uint32_t* uid);
// Adds names that begin with `start` and under which this user listens in this network namespace,
// until there are `most`. Linux before 5.3 does not report owners: there names of other users are
// added, too. Returns false if the kernel does not answer. Takes as long as UidOfAbstractName().
// Thread: any.
bool ListAbstractNames(const std::string& start, size_t most, std::vector<std::string>* names);

}  // namespace httpsys::sharing
