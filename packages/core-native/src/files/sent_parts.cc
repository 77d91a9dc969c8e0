#include "files/sent_parts.h"

#include <utility>

namespace httpsys::files {

void SentParts::Put(uint32_t id, std::shared_ptr<const FilePart> part) {
  const std::lock_guard lock(mutex_);
  parts_.emplace(id, std::move(part));
}

std::shared_ptr<const FilePart> SentParts::Take(uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(id);
  if (found == parts_.end()) return nullptr;
  std::shared_ptr<const FilePart> part = std::move(found->second);
  parts_.erase(found);
  return part;
}

}  // namespace httpsys::files
