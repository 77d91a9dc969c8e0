#pragma once
// The served folders of a server, and how lanes find the folder of a request.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "static_files/static_site.h"

namespace httpsys::engine {

// The folders of one version of a server's settings. Immutable, shared by the lanes.
class StaticMounts {
 public:
  struct Mount {
    StaticMount settings;
    std::string path;  // settings.path, case-folded.
    size_t order = 0;  // Index in the given list.
    std::shared_ptr<static_files::StaticSite> site;
  };

  // A found folder, and the length of the decoded URL path that leads to it.
  struct Found {
    const Mount* mount = nullptr;  // nullptr = none.
    size_t path_bytes = 0;
  };

  StaticMounts() = default;
  // Mounts that are also in `last` keep their StaticSite, with its data. `last` may be nullptr.
  StaticMounts(const std::vector<StaticMount>& wanted, const StaticMounts* last,
               static_files::StaticSites* sites);

  bool empty() const { return below_all_.empty() && at_prefix_.empty(); }
  // Finds the mount with the longest matching path for a request for a prefix. `prefix_bytes` is
  // the length of the decoded path of the prefix, with its final slash; `path` is
  // SplitTarget(target).path as received.
  Found Find(uint32_t prefix_id, size_t prefix_bytes, std::string_view path) const;

 private:
  using Mounts = std::vector<Mount>;

  const Mount* FindSame(const StaticMount& settings) const;

  Mounts below_all_;  // Longer paths first, here and below.
  std::unordered_map<uint32_t, Mounts> at_prefix_;
};

}  // namespace httpsys::engine
