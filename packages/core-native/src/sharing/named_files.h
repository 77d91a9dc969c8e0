#pragma once
// Names of members that are files: each is a socket with a lock file beside it. The lock says
// whether the owner of the name lives, because the kernel gives it back when a process ends in any
// way, whereas the files stay behind. A file system that keeps locks between its processes is
// needed (a local one).

#include <cstdint>
#include <string>

namespace httpsys::sharing {

// Thread: any.

// 0 when the folder of a name is this user's alone: owned by the effective uid, mode 0700, and not
// a symbolic link. Otherwise a negative errno, -EACCES for a folder that is not.
int CheckFolder(const std::string& name);
// The uid that owns the folder of a name. Returns false where there is none.
bool UidOfFolder(const std::string& name, uint32_t* uid);
// Makes the folder of a name, for this user alone. 0 also when it is there.
int MakeFolder(const std::string& name);
// Takes the lock of a name: a descriptor that keeps it until it is closed, -EADDRINUSE when another
// process has it, or another negative errno. What a process that has ended left there is removed.
int LockName(const std::string& name);
// Removes socket and lock file of a name whose lock is `lock_fd`, and closes that.
void RemoveName(const std::string& name, int lock_fd);
// Removes what processes that were killed have left in the folder of a name. Returns the number of
// names removed. Looks at kSweptNamesMax files at most.
int SweepFolder(const std::string& name);

}  // namespace httpsys::sharing
