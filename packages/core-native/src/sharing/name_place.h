#pragma once
// Where a system keeps the names under which the members of a shared port find each other.

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::sharing {

// Keeps names as abstract sockets, or as files of a directory. Immutable. Thread: any.
class NamePlace {
 public:
  // Returns the text with which all names of this user begin, unless a directory was chosen.
  virtual std::string DefaultStart() const = 0;
  // Sets the text with which the names in a chosen directory begin: the number of the network
  // namespace. A port belongs to a namespace, but several namespaces may see the directory. Returns
  // false if the number cannot be determined.
  virtual bool NamespacePrefix(std::string* prefix) const = 0;
  // Sets the address of a name. Returns its size; 0 = the name is too long.
  virtual socklen_t AddressOf(const std::string& name, sockaddr_un* address) const = 0;
  // Reads the uid of the owner of a name or of its directory, even if no process listens there.
  // Returns false if there is no owner, or the system does not report it.
  virtual bool UidOf(const std::string& name, uint32_t* uid) const = 0;
  // Adds names of this user that begin with `start`, until there are `most`. Where the system does
  // not report owners, names of other users or without an owner may be among them.
  virtual void List(const std::string& start, size_t most,
                    std::vector<std::string>* names) const = 0;

 protected:
  ~NamePlace() = default;
};

// The names that are files, in a directory. Works on every system.
const NamePlace& DirectoryPlace();
const NamePlace& SystemPlace();
// Keeps this process' names in this place instead of SystemPlace(), for tests.
void UseNamePlace(const NamePlace& place);

}  // namespace httpsys::sharing
