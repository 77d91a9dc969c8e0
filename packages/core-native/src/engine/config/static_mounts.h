#pragma once
// The folders of a server, as its lanes find them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "static_files/static_site.h"
#include "static_files/static_sites.h"

namespace httpsys::engine {

// Immutable, and shared by the lanes and the versions of a server's settings.
class StaticMounts {
 public:
  struct Mount {
    StaticMount settings;
    std::string path;  // That of the settings, folded.
    size_t order = 0;  // Its place in the list that was given.
    std::shared_ptr<static_files::StaticSite> site;
  };

  // A folder, and the number of bytes of the decoded URL path before what it has.
  struct Found {
    const Mount* mount = nullptr;  // nullptr = none.
    size_t path_bytes = 0;
  };

  StaticMounts() = default;
  // Mounts that `last` has, too, keep what is known of their files. `last` may be nullptr.
  StaticMounts(const std::vector<StaticMount>& wanted, const StaticMounts* last,
               static_files::StaticSites* sites);

  bool empty() const { return below_all_.empty() && at_prefix_.empty(); }
  // Finds the mount of a request for a prefix, the one with the longest path. `prefix_bytes` is the
  // length of the decoded path of the prefix, with its final slash; `path` is
  // SplitTarget(target).path as received.
  Found Find(uint32_t prefix_id, size_t prefix_bytes, std::string_view path) const;

 private:
  using Mounts = std::vector<Mount>;

  const Mount* FindSame(const StaticMount& settings) const;

  Mounts below_all_;  // Those with longer paths come first, here and below.
  std::unordered_map<uint32_t, Mounts> at_prefix_;
};

}  // namespace httpsys::engine
