#pragma once
// Files that stay open for the next who wants them.

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

// The files of an engine, by path. It has at most so many descriptors, and one more for each thread
// that opens a file at this moment: what nobody uses is closed first, then files that are being
// sent give theirs up, and open them again when they are read. Files of which the system says
// nothing (ReadWay::kUnsure) are not in the table: whoever uses them has them open. Thread: any.
class OpenFiles : public std::enable_shared_from_this<OpenFiles> {
 public:
  // Makes what the table gives out, as ReadAhead::Share().
  using Share =
      std::function<std::shared_ptr<const OpenFile>(std::unique_ptr<const OpenFile> file)>;

  // As many descriptors as a process can spare: a quarter of its limit, at most
  // limits::kOpenFilesMax.
  static size_t SparedDescriptors();

  // Files may outlive the table.
  static std::shared_ptr<OpenFiles> Make(size_t descriptors_max, Share share);
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // Returns the file of a path if it is open, and what the path names is still that file, with the
  // rights that it had; otherwise nullptr. `facts` is what the file is now. Asks the file system,
  // but only where that answers at once (not ReadWay::kUnsure).
  std::shared_ptr<const OpenFile> Find(std::string_view path, uint64_t now_ms, FileFacts* facts);
  // Adds a file under its path, in the place of an older one. Returns it.
  std::shared_ptr<const OpenFile> Add(std::unique_ptr<OpenFile> file, uint64_t now_ms);
  // Closes what nobody has used for limits::kFileUnusedMs. Returns true if files are left.
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
  using Entries = std::list<Entry>;  // The one used last is first.

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
