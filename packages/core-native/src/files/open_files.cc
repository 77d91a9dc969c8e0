#include "files/open_files.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace httpsys::files {

size_t OpenFiles::SparedDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return std::clamp<size_t>(limit.rlim_cur / 4, 1, limits::kOpenFilesMax);
}

std::shared_ptr<OpenFiles> OpenFiles::Make(size_t descriptors_max, Share share) {
  return std::shared_ptr<OpenFiles>(new OpenFiles(descriptors_max, std::move(share)));
}

OpenFiles::OpenFiles(size_t descriptors_max, Share share)
    : descriptors_max_(descriptors_max), share_(std::move(share)) {}

std::shared_ptr<const OpenFile> OpenFiles::Find(std::string_view path, uint64_t now_ms,
                                                FileFacts* facts) {
  std::unique_lock lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  std::shared_ptr<const OpenFile> file = entry->file;
  const bool is_same_user = entry->user == geteuid() && entry->group == getegid();
  lock.unlock();
  // The open descriptor keeps the inode, so no other file gets the inode's number; without a
  // descriptor, the file is opened again and all facts are compared. IsUnchanged() also checks the
  // descriptor: code that closes a descriptor twice may have closed this one, and then every later
  // response would have the bytes of another file with its number.
  const FileFacts& was = file->facts();
  if (!is_same_user || ReadPathFacts(file->path(), facts) != 0 || !facts->IsSameFile(was) ||
      facts->changed_ns != was.changed_ns || !file->IsUnchanged()) {
    Forget(file);
    return nullptr;
  }
  lock.lock();
  const auto again = by_path_.find(path);
  if (again != by_path_.end()) {
    again->second->used_ms = now_ms;
    entries_.splice(entries_.begin(), entries_, again->second);
  }
  return file;
}

void OpenFiles::Forget(const std::shared_ptr<const OpenFile>& file) {
  const std::lock_guard lock(mutex_);
  const auto found = by_path_.find(file->path());
  if (found != by_path_.end() && found->second->file == file) Remove(found->second);
}

std::shared_ptr<const OpenFile> OpenFiles::Add(std::unique_ptr<OpenFile> file, uint64_t now_ms) {
  file->set_make_room([weak = weak_from_this()] {
    if (const std::shared_ptr<OpenFiles> table = weak.lock()) table->MakeRoom();
  });
  std::shared_ptr<const OpenFile> shared = share_(std::move(file));
  if (shared->way() == ReadWay::kUnsure) return shared;
  const std::lock_guard lock(mutex_);
  const auto old = by_path_.find(shared->path());
  if (old != by_path_.end()) {
    const Entries::iterator entry = old->second;
    const bool is_same_user = entry->user == geteuid() && entry->group == getegid();
    // Several threads have opened the file at the same time: use the first one.
    if (is_same_user && entry->file->facts() == shared->facts() && entry->file->has_descriptor() &&
        entry->file->IsUnchanged()) {
      entry->used_ms = now_ms;
      return entry->file;
    }
    Remove(entry);
  }
  MakeRoomLocked();
  entries_.push_front({shared, geteuid(), getegid(), now_ms});
  by_path_.emplace(shared->path(), entries_.begin());
  return shared;
}

void OpenFiles::MakeRoom() {
  const std::lock_guard lock(mutex_);
  MakeRoomLocked();
}

// Makes room for one descriptor if possible. Files in use and pinned files keep theirs.
void OpenFiles::MakeRoomLocked() {
  size_t open =
      static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return entry.file->has_descriptor();
      }));
  for (auto at = entries_.end(); open >= descriptors_max_ && at != entries_.begin();) {
    --at;
    if (!at->file->has_descriptor() || at->file.use_count() > 1) continue;
    Remove(at++);
    --open;
  }
  for (auto at = entries_.rbegin(); open >= descriptors_max_ && at != entries_.rend(); ++at) {
    if (at->file->has_descriptor() && at->file->GiveUp()) --open;
  }
}

void OpenFiles::Remove(Entries::iterator entry) {
  by_path_.erase(entry->file->path());
  entries_.erase(entry);
}

bool OpenFiles::Sweep(uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto entry = at++;
    const bool is_unused = entry->file.use_count() == 1;
    if (!is_unused) {
      entry->used_ms = now_ms;
    } else if (now_ms - entry->used_ms >= limits::kFileUnusedMs) {
      Remove(entry);
    }
  }
  return !entries_.empty();
}

size_t OpenFiles::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace httpsys::files
