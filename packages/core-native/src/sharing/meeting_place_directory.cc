// Names of members that are sockets in a directory.

#include <unistd.h>

#include <cstring>

#include "sharing/name_place.h"
#include "sharing/named_files.h"

namespace httpsys::sharing {
namespace {

class DirectoryNames final : public NamePlace {
 public:
  std::string DefaultStart() const override {
    return "/tmp/httpsys-1-" + std::to_string(geteuid()) + "/";
  }

  bool NamespacePrefix(std::string* prefix) const override {
    prefix->clear();
    return true;
  }

  socklen_t AddressOf(const std::string& name, sockaddr_un* address) const override {
    *address = {};
    address->sun_family = AF_UNIX;
    if (name.size() + 1 >= sizeof address->sun_path) return 0;
    std::memcpy(address->sun_path, name.data(), name.size());
    return sizeof *address;
  }

  bool UidOf(const std::string& name, uint32_t* uid) const override {
    return UidOfFolder(name, uid);
  }

  void List(const std::string& start, size_t most, std::vector<std::string>* names) const override {
    *names = ListNames(start, most);
  }
};

}  // namespace

const NamePlace& DirectoryPlace() {
  static const DirectoryNames place;
  return place;
}

}  // namespace httpsys::sharing
