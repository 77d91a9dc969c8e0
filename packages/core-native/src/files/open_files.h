#pragma once
// Files that stay open between requests.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "files/open_file.h"

namespace httpsys::files {

// Table of an engine's open files, by path. It has at most descriptors_max() descriptors, and one
// more for each thread that is opening a file: it first closes unused files, then makes files that
// are being sent give up their descriptors until they are read again. Files with ReadWay::kUnsure
// are not in the table: their users keep them open. Thread: any.
class OpenFiles : public std::enable_shared_from_this<OpenFiles> {
 public:
  // Makes the shared file that the table returns, like ReadAhead::Share().
  using Share =
      std::function<std::shared_ptr<const OpenFile>(std::unique_ptr<const OpenFile> file)>;

  // Returns how many descriptors files may use: a quarter of the limit, at most kOpenFilesMax.
  static size_t SparedDescriptors();

  // Makes a table; its files may outlive it.
  static std::shared_ptr<OpenFiles> Make(size_t descriptors_max, Share share);
  OpenFiles& operator=(OpenFiles&&) = delete;

  // Returns the open file of a path; nullptr if the path names another file now, or if the file's
  // rights or the process' user have changed. `facts` gets the file's present facts. Calls only
  // file systems that answer at once (not ReadWay::kUnsure).
  std::shared_ptr<const OpenFile> Find(std::string_view path, uint64_t now_ms, FileFacts* facts);
  // Adds a file under its path, and removes an older one. Returns the shared file.
  std::shared_ptr<const OpenFile> Add(std::unique_ptr<OpenFile> file, uint64_t now_ms);
  // Closes files that were not used for limits::kFileUnusedMs. Returns true if files are left.
  bool Sweep(uint64_t now_ms);
  size_t count() const;
  size_t descriptors_max() const { return descriptors_max_; }

 private:
  OpenFiles(size_t descriptors_max, Share share);

  struct Entry {
    std::shared_ptr<const OpenFile> file;
    uint32_t user = 0;  // The effective user and group of the process when the file was opened.
    uint32_t group = 0;
    uint64_t used_ms = 0;
  };
  using Entries = std::list<Entry>;  // Most recently used first.

  void Forget(const std::shared_ptr<const OpenFile>& file);
  void MakeRoom();
  void MakeRoomLocked();
  void Remove(Entries::iterator entry);

  const size_t descriptors_max_;
  const Share share_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_path_;  // Views into the files.
};

}  // namespace httpsys::files
