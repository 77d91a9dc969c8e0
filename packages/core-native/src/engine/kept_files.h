#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "backend/backend.h"
#include "files/open_files.h"

namespace httpsys::engine {

// Files of the engine's table that JavaScript uses, by ids above 0. Thread: JavaScript.
class KeptFiles final : public FileBackend {
 public:
  explicit KeptFiles(files::OpenFiles* table) : table_(table) {}
  KeptFiles& operator=(KeptFiles&&) = delete;

  KeptFile Find(const std::string& path) override;
  KeptFile Keep(const std::string& path, Descriptor fd) override;
  Descriptor Pin(uint32_t id) override;
  std::string ReadNow(uint32_t id, uint64_t start, uint32_t bytes) override;
  void Release(uint32_t id) override { files_.erase(id); }

  // Returns the file with this id, or nullptr.
  std::shared_ptr<const files::OpenFile> Get(uint32_t id) const;

 private:
  KeptFile Use(std::shared_ptr<const files::OpenFile> file, uint64_t bytes);

  files::OpenFiles* table_;
  std::unordered_map<uint32_t, std::shared_ptr<const files::OpenFile>> files_;
  uint32_t last_id_ = 0;
};

}  // namespace httpsys::engine
