#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "files/open_files.h"
#include "files/root_folder.h"
#include "static_files/static_options.h"
#include "static_files/static_site.h"

namespace httpsys::static_files {

// Makes the sites of an engine. Thread: any.
class StaticSites {
 public:
  // `table` keeps the files of the sites open; see StaticSite.
  explicit StaticSites(std::shared_ptr<files::OpenFiles> table) : table_(std::move(table)) {}
  StaticSites(const StaticSites&) = delete;
  StaticSites& operator=(const StaticSites&) = delete;

  std::shared_ptr<StaticSite> Make(StaticOptions options, std::string root,
                                   files::LinkPolicy links);
  // Drops results of all sites that were not used recently. Returns true if results are left.
  bool Sweep(uint64_t now_ms);

 private:
  const std::shared_ptr<files::OpenFiles> table_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<StaticSite>> sites_;
};

}  // namespace httpsys::static_files
