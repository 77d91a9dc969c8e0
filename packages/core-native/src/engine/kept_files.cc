#include "engine/kept_files.h"

#include <uv.h>

#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {
namespace {

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

}  // namespace

KeptFile KeptFiles::Use(std::shared_ptr<const files::OpenFile> file, uint64_t bytes) {
  do {
    ++last_id_;
  } while (last_id_ == 0 || files_.contains(last_id_));
  const Descriptor number(file->descriptor());
  files_.emplace(last_id_, std::move(file));
  return {last_id_, number, bytes};
}

KeptFile KeptFiles::Find(const std::string& path) {
  files::FileFacts facts;
  std::shared_ptr<const files::OpenFile> file = table_->Find(path, NowMs(), &facts);
  return file == nullptr ? KeptFile{} : Use(std::move(file), facts.size);
}

KeptFile KeptFiles::Keep(const std::string& path, Descriptor fd) {
  files::FileFacts facts;
  if (files::ReadFileFacts(fd, &facts) != 0 || facts.kind != files::FileKind::kFile) return {};
  std::unique_ptr<files::OpenFile> file = files::OpenFile::Take(fd, path);
  return file == nullptr ? KeptFile{} : Use(table_->Add(std::move(file), NowMs()), facts.size);
}

Descriptor KeptFiles::Pin(uint32_t id) {
  const std::shared_ptr<const files::OpenFile> file = Get(id);
  if (file == nullptr || file->HasLostDescriptor()) return Descriptor(-EBADF);
  const int fd = file->Pin();
  return Descriptor(fd < 0 ? -errno : fd);
}

std::string KeptFiles::ReadNow(uint32_t id, uint64_t start, uint32_t bytes) {
  const auto found = files_.find(id);
  if (found == files_.end() || bytes > limits::kFileReadBytesMax) return {};
  std::string content(bytes, '\0');
  const ssize_t got = found->second->ReadNow(content.data(), bytes, start);
  return got == static_cast<ssize_t>(bytes) ? content : std::string();
}

std::shared_ptr<const files::OpenFile> KeptFiles::Get(uint32_t id) const {
  const auto found = files_.find(id);
  return found == files_.end() ? nullptr : found->second;
}

}  // namespace httpsys::engine
