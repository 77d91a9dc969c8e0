#include "win/sent_file.h"

#include <uv.h>

#include <utility>

namespace httpsys::win {

std::unique_ptr<SentFile> SentFile::Open(int fd, uint64_t start, uint64_t bytes) {
  const HANDLE theirs = uv_get_osfhandle(fd);
  const HANDLE process = GetCurrentProcess();
  HANDLE own = nullptr;
  if (theirs == INVALID_HANDLE_VALUE ||
      DuplicateHandle(process, theirs, process, &own, 0, FALSE, DUPLICATE_SAME_ACCESS) == 0) {
    return nullptr;
  }
  std::unique_ptr<SentFile> file(new SentFile(own, start, bytes));
  // HTTP.SYS can read neither pipes nor devices.
  if (GetFileType(own) != FILE_TYPE_DISK) return nullptr;
  return file;
}

SentFile::~SentFile() { CloseHandle(handle_); }

HTTP_DATA_CHUNK SentFile::chunk() const {
  HTTP_DATA_CHUNK chunk{};
  chunk.DataChunkType = HttpDataChunkFromFileHandle;
  chunk.FromFileHandle.ByteRange.StartingOffset.QuadPart = start_;
  chunk.FromFileHandle.ByteRange.Length.QuadPart = bytes_;
  chunk.FromFileHandle.FileHandle = handle_;
  return chunk;
}

void SentFiles::Put(uint32_t id, std::unique_ptr<SentFile> file) {
  const std::lock_guard lock(mutex_);
  files_.insert_or_assign(id, std::move(file));
}

std::unique_ptr<SentFile> SentFiles::Take(uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  if (found == files_.end()) return nullptr;
  std::unique_ptr<SentFile> file = std::move(found->second);
  files_.erase(found);
  return file;
}

}  // namespace httpsys::win
