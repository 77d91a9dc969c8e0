#pragma once
// Names of members as files. Each name is a socket with a lock file beside it. The lock says
// whether the owner of the name lives: the kernel releases it when the process ends in any way,
// whereas the files stay. The file system must keep locks between its processes (a local one does).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::sharing {

// Thread: any.

// Checks that the folder of a name is private: owned by the effective uid, mode 0700 and not a
// symbolic link. Returns 0, -EACCES if it is not private, or another negative errno.
int CheckFolder(const std::string& name);
// Reads the uid that owns the folder of a name. Returns false if there is no folder.
bool UidOfFolder(const std::string& name, uint32_t* uid);
// Makes the folder of a name, for this user alone. Returns 0 also if it exists.
int MakeFolder(const std::string& name);
// Takes the lock of a name and removes an ended process' files. Returns a descriptor that holds the
// lock until it is closed, or a negative errno (-EADDRINUSE = another process has it).
int LockName(const std::string& name);
// Removes the socket and the lock file of a name, and closes `lock_fd`, which holds its lock.
void RemoveName(const std::string& name, int lock_fd);
// Removes the files of killed processes from the folder of a name. Looks at kSweptNamesMax files at
// most. Returns the number of names removed.
int SweepFolder(const std::string& name);
// Returns the names in a private folder that begin with `start`, in use or not; `most` at most.
std::vector<std::string> ListNames(const std::string& start, size_t most);

}  // namespace httpsys::sharing
