#include "static_files/static_sites.h"

#include <utility>

namespace httpsys::static_files {

std::shared_ptr<StaticSite> StaticSites::Make(StaticOptions options, std::string root,
                                              files::LinkPolicy links) {
  auto site = std::make_shared<StaticSite>(std::move(options), std::move(root), links, table_);
  const std::lock_guard lock(mutex_);
  std::erase_if(sites_, [](const auto& one) { return one.expired(); });
  sites_.push_back(site);
  return site;
}

bool StaticSites::Sweep(uint64_t now_ms) {
  std::vector<std::shared_ptr<StaticSite>> sites;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : sites_) {
      if (std::shared_ptr<StaticSite> site = one.lock()) sites.push_back(std::move(site));
    }
  }
  bool has_left = false;
  for (const auto& site : sites) has_left = site->Sweep(now_ms) || has_left;
  return has_left;
}

}  // namespace httpsys::static_files
