#pragma once
// A folder whose files are served, and the known results of searches in it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files/file_calls.h"
#include "files/open_file.h"
#include "files/open_files.h"
#include "files/root_folder.h"
#include "semantics/content_coding.h"
#include "static_files/file_search.h"
#include "static_files/request_path.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

// Maximum number of search results that a site remembers, enough for the files of a large site and
// some names without a file. The least recently used results are dropped.
inline constexpr size_t kKnownPathsMax = 4096;
// Time in ms for which a search result is used. Changed names are noticed within this time, changed
// contents whenever a file is sent. After half of it, the next request starts a new search.
inline constexpr uint64_t kKnownMs = 1000;

// The result of the search for one request path. Immutable.
struct KnownPath {
  struct Sibling {
    files::FileFacts facts;
    std::shared_ptr<const files::OpenFile> file;
  };

  SearchStatus status = SearchStatus::kNotFound;
  // The next three members are valid with kFound.
  std::string path;  // Below the root.
  files::FileFacts facts;
  std::shared_ptr<const files::OpenFile> file;
  std::array<std::optional<Sibling>, semantics::kContentCodings> siblings;
  // Time when the search began, or when the folder itself was checked for it, whichever is earlier.
  uint64_t looked_ms = 0;
};

// Serves files below the folder that a path names. If the path names another folder later, as after
// a deployment, drops all results. Thread: any.
class StaticSite {
 public:
  // `root` is an absolute path. `table` keeps files open; nullptr = results keep them open.
  StaticSite(StaticOptions options, std::string root, files::LinkPolicy links,
             std::shared_ptr<files::OpenFiles> table);
  StaticSite& operator=(StaticSite&&) = delete;

  const StaticOptions& options() const { return options_; }
  // Returns the place where a search waits: the device of the folder, which is known once the
  // folder was opened. Sites on one device share a place, and so do sites that were never opened.
  files::WaitPlace PlaceOf(files::MountPolicy mounts) const;

  // Returns the key under which the search result of a path is stored.
  static std::string KeyOf(const RequestPath& path);
  // Returns the known result for a path, or nullptr. Sets `is_due` if the path should be searched
  // again, once for each result.
  std::shared_ptr<const KnownPath> Find(const RequestPath& path, uint64_t now_ms, bool* is_due);
  // Searches for a path, and remembers the result unless descriptors or memory were short. May wait
  // for a disk or a server. With MountPolicy::kRefuse, returns nullptr if the path leads to a file
  // system mounted below the folder: the caller must then search at WaitPlace::kNamesBeyond.
  std::shared_ptr<const KnownPath> Search(const RequestPath& path, uint64_t now_ms,
                                          files::MountPolicy mounts = files::MountPolicy::kCross);
  // Drops `known`, the result of a path, unless a newer one has replaced it.
  void Forget(const RequestPath& path, const std::shared_ptr<const KnownPath>& known);
  // Drops results that were not used recently. Returns true if results are left.
  bool Sweep(uint64_t now_ms);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const KnownPath> known;
    uint64_t used_ms = 0;
    bool is_renewing = false;
    size_t open_files = 0;  // Open files of `known` that `table_` does not count.
  };
  using Entries = std::list<Entry>;  // Most recently used first.

  std::shared_ptr<const files::RootFolder> CurrentRoot(uint64_t now_ms, SearchStatus* status,
                                                       uint64_t* looked_ms);
  std::shared_ptr<const files::OpenFile> Keep(const std::shared_ptr<const files::RootFolder>& root,
                                              const files::OpenedFile& opened,
                                              const std::string& relative,
                                              const std::shared_ptr<const files::OpenFile>& last,
                                              uint64_t now_ms);
  std::shared_ptr<const KnownPath> Last(const std::string& key);
  void Remember(std::string key, std::shared_ptr<const KnownPath> known, uint64_t now_ms);
  // Moves an entry from the site to `forgotten`.
  void Forget(Entries::iterator entry, Entries* forgotten);

  const StaticOptions options_;
  const std::string root_path_;
  const files::LinkPolicy links_;
  const std::shared_ptr<files::OpenFiles> table_;
  std::atomic<uint64_t> device_ = 0;  // Device of the last folder; 0 = none was opened.
  std::mutex mutex_;
  std::shared_ptr<const files::RootFolder> root_;
  uint64_t root_looked_ms_ = 0;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  // Views into the entries.
  size_t open_files_ = 0;                                           // Sum over all entries.
};

// Makes the sites of an engine. Thread: any.
class StaticSites {
 public:
  // `table` keeps the files of the sites open; see StaticSite.
  explicit StaticSites(std::shared_ptr<files::OpenFiles> table) : table_(std::move(table)) {}
  StaticSites& operator=(StaticSites&&) = delete;

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
