#include "static_files/static_site.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/limits.h"

namespace httpsys::static_files {

using files::FileKind;
using files::MountPolicy;
using files::OpenedFile;
using files::OpenFile;
using files::RootFolder;
using semantics::ContentCoding;

namespace {

// Returns true for a temporary error: descriptors or memory are short, or other code has closed the
// folder, which will be opened again.
bool IsPassing(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EBADF;
}

// Returns how many files stay open as long as the result is known: the table does not make them
// give up their descriptors, because closing and opening such files may wait.
size_t CountOpen(const KnownPath& known) {
  const auto is_open = [](const std::shared_ptr<const OpenFile>& file) {
    return file != nullptr && file->way() == files::ReadWay::kUnsure;
  };
  size_t count = is_open(known.file) ? 1 : 0;
  for (const auto& sibling : known.siblings) {
    if (sibling.has_value() && is_open(sibling->file)) ++count;
  }
  return count;
}

}  // namespace

StaticSite::StaticSite(StaticOptions options, std::string root, files::LinkPolicy links,
                       std::shared_ptr<files::OpenFiles> table)
    : options_(std::move(options)),
      root_path_(std::move(root)),
      links_(links),
      table_(std::move(table)) {}

files::WaitPlace StaticSite::PlaceOf(MountPolicy mounts) const {
  using Use = files::WaitPlace::Use;
  return {device_.load(std::memory_order_relaxed),
          mounts == MountPolicy::kRefuse ? Use::kNames : Use::kNamesBeyond};
}

std::string StaticSite::KeyOf(const RequestPath& path) {
  return path.has_final_slash ? path.relative + "/" : path.relative;
}

std::shared_ptr<const KnownPath> StaticSite::Find(const RequestPath& path, uint64_t now_ms,
                                                  bool* is_due) {
  *is_due = false;
  const std::string key = KeyOf(path);
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  Entry& entry = *found->second;
  const uint64_t age_ms = now_ms - std::min(now_ms, entry.known->looked_ms);
  if (age_ms >= kKnownMs) return nullptr;
  entry.used_ms = now_ms;
  entries_.splice(entries_.begin(), entries_, found->second);
  if (age_ms >= kKnownMs / 2) *is_due = !std::exchange(entry.is_renewing, true);
  return entry.known;
}

// Returns the folder that the root's path names now. Otherwise returns nullptr, and sets `status`:
// kNotFound if the path names no folder, kFailed if that is unknown. kFailed may be temporary, such
// as a lack of descriptors: results are kept, and the next search tries again. Lowers `looked_ms`
// to the time when the root's path was last checked.
std::shared_ptr<const RootFolder> StaticSite::CurrentRoot(uint64_t now_ms, SearchStatus* status,
                                                          uint64_t* looked_ms) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<const RootFolder> last = root_;
  const bool is_due = now_ms - std::min(now_ms, root_looked_ms_) >= kKnownMs / 2;
  if (last != nullptr && !is_due && last->IsOpen()) {
    *looked_ms = std::min(*looked_ms, root_looked_ms_);
    return last;
  }
  lock.unlock();
  std::shared_ptr<const RootFolder> current = last;
  if (current == nullptr || !current->IsCurrent()) {
    int error = 0;
    current = RootFolder::Open(root_path_, links_, files::OpenWay::kBest, &error);
    if (current == nullptr) {
      *status = IsNotFound(error) ? SearchStatus::kNotFound : SearchStatus::kFailed;
      if (*status == SearchStatus::kFailed) return nullptr;
    }
  }
  if (current != nullptr) device_.store(current->device(), std::memory_order_relaxed);
  Entries forgotten;  // Destroyed without the lock.
  lock.lock();
  root_looked_ms_ = now_ms;
  if (current != root_) {
    root_ = current;
    by_key_.clear();
    forgotten.swap(entries_);
    open_files_ = 0;
  }
  return current;
}

std::shared_ptr<const KnownPath> StaticSite::Last(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second->known;
}

// Returns the OpenFile for an opened file: `last` if that is the same file and still open.
std::shared_ptr<const OpenFile> StaticSite::Keep(const std::shared_ptr<const RootFolder>& root,
                                                 const OpenedFile& opened,
                                                 const std::string& relative,
                                                 const std::shared_ptr<const OpenFile>& last,
                                                 uint64_t now_ms) {
  if (last != nullptr && last->facts() == opened.facts && last->IsUnchanged()) {
    close(opened.fd);
    return last;
  }
  std::unique_ptr<OpenFile> file = OpenFile::Take(opened.fd, root_path_ + "/" + relative);
  if (file == nullptr) return nullptr;
  if (table_ == nullptr) return file;
  // Open it again below `root`: after a deployment, the path may name another folder's file.
  file->set_opener([root, relative] {
    const OpenedFile again = root->OpenFile(relative);
    if (again.error != 0) return -again.error;
    return again.fd < 0 ? -ESTALE : again.fd;
  });
  return table_->Add(std::move(file), now_ms);
}

std::shared_ptr<const KnownPath> StaticSite::Search(const RequestPath& path, uint64_t now_ms,
                                                    MountPolicy mounts) {
  auto known = std::make_shared<KnownPath>();
  known->looked_ms = now_ms;
  std::string key = KeyOf(path);
  const std::shared_ptr<const RootFolder> root =
      CurrentRoot(now_ms, &known->status, &known->looked_ms);
  if (root == nullptr) return known;
  const std::shared_ptr<const KnownPath> last = Last(key);
  // True if opening a file has failed with a temporary error.
  bool is_passing = false;
  FileSearch search(&options_, path);
  while (search.status() == SearchStatus::kTry) {
    const OpenedFile opened = root->OpenFile(search.path(), mounts);
    if (opened.error == EXDEV && mounts == MountPolicy::kRefuse) return nullptr;
    is_passing = is_passing || IsPassing(opened.error);
    const bool is_file = opened.error == 0 && opened.facts.kind == FileKind::kFile;
    if (is_file) {
      known->path = search.path();
      known->facts = opened.facts;
      known->file =
          Keep(root, opened, search.path(), last == nullptr ? nullptr : last->file, now_ms);
    }
    search.Report(is_file && known->file == nullptr ? EIO : opened.error, opened.facts.kind);
  }
  known->status = search.status();
  if (known->status == SearchStatus::kFound) {
    for (const ContentCoding coding :
         {ContentCoding::kBr, ContentCoding::kZstd, ContentCoding::kGzip}) {
      if (!options_.precompressed.Has(coding)) continue;
      const std::string sibling_path = SiblingPath(known->path, coding);
      const OpenedFile opened = root->OpenFile(sibling_path, mounts);
      if (opened.error == EXDEV && mounts == MountPolicy::kRefuse) return nullptr;
      is_passing = is_passing || IsPassing(opened.error);
      if (opened.error != 0 || opened.facts.kind != FileKind::kFile) continue;
      const auto index = static_cast<size_t>(coding);
      const bool has_last = last != nullptr && last->siblings[index].has_value();
      auto file = Keep(root, opened, sibling_path, has_last ? last->siblings[index]->file : nullptr,
                       now_ms);
      if (file != nullptr) known->siblings[index] = {opened.facts, std::move(file)};
    }
  }
  if (!is_passing) Remember(std::move(key), known, now_ms);
  return known;
}

void StaticSite::Forget(const RequestPath& path, const std::shared_ptr<const KnownPath>& known) {
  Entries forgotten;  // Destroyed without the lock.
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(KeyOf(path));
  if (found != by_key_.end() && found->second->known == known) Forget(found->second, &forgotten);
}

void StaticSite::Remember(std::string key, std::shared_ptr<const KnownPath> known,
                          uint64_t now_ms) {
  std::shared_ptr<const KnownPath> replaced;  // Both are destroyed without the lock.
  Entries forgotten;
  const std::lock_guard lock(mutex_);
  const size_t open_files = table_ == nullptr ? 0 : CountOpen(*known);
  open_files_ += open_files;
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    Entry& entry = *found->second;
    replaced = std::exchange(entry.known, std::move(known));
    open_files_ -= std::exchange(entry.open_files, open_files);
    entry.is_renewing = false;
    entries_.splice(entries_.begin(), entries_, found->second);
  } else {
    entries_.push_front({std::move(key), std::move(known), now_ms, false, open_files});
    by_key_.emplace(entries_.front().key, entries_.begin());
  }
  const size_t open_max = table_ == nullptr ? 0 : table_->descriptors_max();
  while (entries_.size() > 1 && (entries_.size() > kKnownPathsMax || open_files_ > open_max)) {
    Forget(std::prev(entries_.end()), &forgotten);
  }
}

void StaticSite::Forget(Entries::iterator entry, Entries* forgotten) {
  by_key_.erase(entry->key);
  open_files_ -= entry->open_files;
  forgotten->splice(forgotten->begin(), entries_, entry);
}

bool StaticSite::Sweep(uint64_t now_ms) {
  Entries forgotten;  // Destroyed without the lock.
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto entry = at++;
    if (now_ms - std::min(now_ms, entry->used_ms) < limits::kFileUnusedMs) continue;
    Forget(entry, &forgotten);
  }
  return !entries_.empty();
}

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
