#pragma once
// A folder whose files are served, and what is known of them.

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

#include "files/open_file.h"
#include "files/open_files.h"
#include "files/root_folder.h"
#include "files/wait_place.h"
#include "semantics/content_coding.h"
#include "static_files/file_search.h"
#include "static_files/request_path.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

// Results of searches that a site remembers, above which the one used least recently goes: the
// files of a large site, and some names that nobody has.
inline constexpr size_t kKnownPathsMax = 4096;
// How long a result counts, in ms: changes are noticed within this time, and those of a file's
// contents when it is sent. From half of it on, the
// next request has it renewed.
inline constexpr uint64_t kKnownMs = 1000;

// The result of the search for one path of requests. Immutable.
struct KnownPath {
  struct Sibling {
    files::FileFacts facts;
    std::shared_ptr<const files::OpenFile> file;
  };

  SearchStatus status = SearchStatus::kNotFound;
  // The next three are valid with kFound.
  std::string path;  // Below the root.
  files::FileFacts facts;
  std::shared_ptr<const files::OpenFile> file;
  std::array<std::optional<Sibling>, semantics::kContentCodings> siblings;
  // When the search began, or when the folder was looked at for it, if that was before.
  uint64_t looked_ms = 0;
};

// Serves what is below the folder that its path names. If the path names another folder one day, as
// after a deployment, everything that was known is forgotten. Thread: any.
class StaticSite {
 public:
  // `root` is an absolute path. `table` keeps the files open; nullptr = they are open as long as
  // they are known.
  StaticSite(StaticOptions options, std::string root, files::LinkPolicy links,
             std::shared_ptr<files::OpenFiles> table);
  StaticSite(const StaticSite&) = delete;
  StaticSite& operator=(const StaticSite&) = delete;

  const StaticOptions& options() const { return options_; }
  // Where a search waits: for the device of the folder, which is known when the folder was opened.
  // Sites on one device, and sites that were never opened, share a place.
  files::WaitPlace PlaceOf(files::MountPolicy mounts) const;

  // Names what a search is for: paths with one key have one result.
  static std::string KeyOf(const RequestPath& path);
  // Returns what is known of a path, or nullptr. `is_due`: it should be searched again; true at
  // most once for each result.
  std::shared_ptr<const KnownPath> Find(const RequestPath& path, uint64_t now_ms, bool* is_due);
  // Searches, and remembers the result, unless descriptors or memory were lacking. May wait for a
  // disk or a server. Returns nullptr, with MountPolicy::kRefuse only, if it has to cross to a file
  // system that is mounted below the folder: the caller searches again where it may wait for that
  // one.
  std::shared_ptr<const KnownPath> Search(const RequestPath& path, uint64_t now_ms,
                                          files::MountPolicy mounts = files::MountPolicy::kCross);
  // Forgets what is known of a path, unless that is something else by now.
  void Forget(const RequestPath& path, const std::shared_ptr<const KnownPath>& known);
  // Forgets what nobody has asked for lately. Returns true if something is left.
  bool Sweep(uint64_t now_ms);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const KnownPath> known;
    uint64_t used_ms = 0;
    bool is_renewing = false;
    size_t open_files = 0;  // Files of `known` that the table does not count.
  };
  using Entries = std::list<Entry>;  // The one used last is first.

  std::shared_ptr<const files::RootFolder> CurrentRoot(uint64_t now_ms, SearchStatus* status,
                                                       uint64_t* looked_ms);
  std::shared_ptr<const files::OpenFile> Keep(const std::shared_ptr<const files::RootFolder>& root,
                                              const files::OpenedFile& opened,
                                              const std::string& relative,
                                              const std::shared_ptr<const files::OpenFile>& last,
                                              uint64_t now_ms);
  std::shared_ptr<const KnownPath> Last(const std::string& key);
  void Remember(std::string key, std::shared_ptr<const KnownPath> known, uint64_t now_ms);
  // Takes an entry out of the site.
  void Forget(Entries::iterator entry, Entries* forgotten);

  const StaticOptions options_;
  const std::string root_path_;
  const files::LinkPolicy links_;
  const std::shared_ptr<files::OpenFiles> table_;
  std::atomic<uint64_t> device_ = 0;  // That of the last folder; 0 = none was opened.
  std::mutex mutex_;
  std::shared_ptr<const files::RootFolder> root_;
  uint64_t root_looked_ms_ = 0;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  // Views into the entries.
  size_t open_files_ = 0;  // The sum of those of the entries.
};

}  // namespace httpsys::static_files
