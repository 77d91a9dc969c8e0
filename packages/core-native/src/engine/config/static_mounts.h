#pragma once
// The folders of a server, as its lanes find them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "static_files/static_site.h"
#include "static_files/static_sites.h"

namespace httpsys::engine {

// Immutable, and shared by the lanes.
class StaticMounts {
 public:
  struct Mount {
    StaticMount settings;
    std::string path;  // That of the settings, folded.
    std::shared_ptr<static_files::StaticSite> site;
  };

  StaticMounts() = default;
  // Mounts that `last` has, too, keep what is known of their files.
  StaticMounts(const std::vector<StaticMount>& wanted, const StaticMounts& last,
               static_files::StaticSites* sites);

  bool empty() const { return mounts_.empty(); }
  // Finds the mount of a request for this prefix, the one with the longest path. `path` is
  // SplitTarget(target).path as received. Returns nullptr if there is none.
  const Mount* Find(uint32_t prefix_id, std::string_view path) const;

 private:
  std::vector<Mount> mounts_;  // Those with longer paths come first.
};

}  // namespace httpsys::engine
