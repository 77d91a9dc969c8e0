#pragma once
// Where a system keeps the names under which the members of a shared port find each other.

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::sharing {

// A place of names. Immutable. Thread: any.
class NamePlace {
 public:
  // What all names of this user begin with, unless a directory was chosen.
  virtual std::string DefaultStart() const = 0;
  // Sets what the names in a directory that was chosen begin with. A port belongs to a network
  // namespace, and a directory may be seen from several: the number of the namespace keeps their
  // names apart. Returns false where it cannot be told.
  virtual bool NamespacePrefix(std::string* prefix) const = 0;
  // Sets the address of a name. Returns its size; 0 = the name is too long.
  virtual socklen_t AddressOf(const std::string& name, sockaddr_un* address) const = 0;
  // Reads the uid of whoever has a name or its directory, even if nobody listens there. Returns
  // false if nobody has it, or the system does not tell.
  virtual bool UidOf(const std::string& name, uint32_t* uid) const = 0;
  // Adds the names that begin with `start` and that this user has, until there are `most`. Some may
  // be another user's, or nobody's, where the system does not tell.
  virtual void List(const std::string& start, size_t most,
                    std::vector<std::string>* names) const = 0;

 protected:
  ~NamePlace() = default;
};

// The names that are files, in a directory. Works on every system.
const NamePlace& DirectoryPlace();
// The best place for this system's names.
const NamePlace& SystemPlace();
// Keeps the names of this process, unless a directory was chosen, in this place instead of
// SystemPlace(). For tests.
void UseNamePlace(const NamePlace& place);

}  // namespace httpsys::sharing
