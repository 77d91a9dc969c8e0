#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "files/open_file.h"

namespace httpsys::files {

// Parts of files on their way from JavaScript to a lane, by the ids of LentMemory. Thread: any.
class SentParts {
 public:
  void Put(uint32_t id, std::shared_ptr<const FilePart> part);
  // Removes and returns the part with this id; nullptr if the id belongs to no file.
  std::shared_ptr<const FilePart> Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<const FilePart>> parts_;
};

}  // namespace httpsys::files
