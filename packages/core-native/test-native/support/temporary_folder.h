#pragma once
// A folder of a test, which is removed with all that is in it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace httpsys::test {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "httpsys-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string PathOf(std::string_view name) const { return path_ + "/" + std::string(name); }
  void MakeFolder(std::string_view name) const {
    if (!std::filesystem::create_directories(PathOf(name))) std::abort();
  }
  void Write(std::string_view name, std::string_view text) const {
    const int fd = open(PathOf(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd == -1 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
    close(fd);
  }
  void Link(std::string_view name, const std::string& target) const {
    if (symlink(target.c_str(), PathOf(name).c_str()) != 0) std::abort();
  }
  void Rename(std::string_view from, std::string_view to) const {
    if (rename(PathOf(from).c_str(), PathOf(to).c_str()) != 0) std::abort();
  }

 private:
  std::string path_;
};

// Reads at most 4 KiB of a file.
inline std::string ReadStart(int fd) {
  std::string text(4096, '\0');
  const ssize_t bytes = pread(fd, text.data(), text.size(), 0);
  text.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  return text;
}

}  // namespace httpsys::test
