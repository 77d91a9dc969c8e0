// Names of members that are abstract Unix sockets of Linux.

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "sharing/name_place.h"
#include "sharing/unix_diag.h"

namespace httpsys::sharing {
namespace {

class AbstractNames final : public NamePlace {
 public:
  std::string DefaultStart() const override {
    return "httpsys/1/" + std::to_string(geteuid()) + "/";
  }

  bool NamespacePrefix(std::string* prefix) const override {
    struct stat found {};
    if (stat("/proc/self/ns/net", &found) != 0) return false;
    *prefix = std::to_string(found.st_ino) + '-';
    return true;
  }

  socklen_t AddressOf(const std::string& name, sockaddr_un* address) const override {
    *address = {};
    address->sun_family = AF_UNIX;
    if (name.size() + 1 >= sizeof address->sun_path) return 0;
    // The first byte stays zero: that makes the name abstract.
    std::memcpy(address->sun_path + 1, name.data(), name.size());
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }

  bool UidOf(const std::string& name, uint32_t* uid) const override {
    return UidOfAbstractName(name, uid);
  }

  void List(const std::string& start, size_t most, std::vector<std::string>* names) const override {
    if (!ListAbstractNames(start, most, names)) ListProcNames(start, most, names);
  }
};

}  // namespace

const NamePlace& SystemPlace() {
  static const AbstractNames place;
  return place;
}

}  // namespace httpsys::sharing
