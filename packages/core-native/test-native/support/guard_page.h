#pragma once
// Text that ends at a page nobody may touch: reading one byte too far ends the test.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace httpsys::test {

class GuardPage {
 public:
  // Room for `bytes_max` bytes in front of the guarded page.
  explicit GuardPage(size_t bytes_max) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    room_ = (bytes_max + page - 1) / page * page;
    mapped_ = room_ + page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    memory_ = static_cast<char*>(memory);
    if (mprotect(memory_ + room_, page, PROT_NONE) != 0) std::abort();
  }
  ~GuardPage() { munmap(memory_, mapped_); }
  GuardPage(const GuardPage&) = delete;
  GuardPage& operator=(const GuardPage&) = delete;

  // Copies `text` so that it ends at the guarded page. The last copy is overwritten.
  std::string_view Place(std::string_view text) {
    if (text.size() > room_) std::abort();
    char* const begin = memory_ + room_ - text.size();
    std::memcpy(begin, text.data(), text.size());
    return {begin, text.size()};
  }

 private:
  char* memory_;
  size_t room_;
  size_t mapped_;
};

}  // namespace httpsys::test
