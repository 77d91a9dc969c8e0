#pragma once
// Memory that one process writes and others read.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace httpsys::cache {

// System-dependent functions that make and map memory for SharedMemory.
struct SharedPages {
  void* memory = nullptr;  // nullptr = no memory.
  size_t bytes = 0;
  int fd = -1;  // The descriptor for other processes; -1 = they cannot map the memory.
};

// Thread: any, for all functions of this file.
[[nodiscard]] SharedPages CreateSharedPages(size_t bytes);
// Maps memory that another process has made, as SharedMemory::Map() says.
[[nodiscard]] SharedPages MapSharedPages(int fd, size_t bytes_max);
void FreeSharedPages(const SharedPages& pages);

// All accesses are atomic and to whole words, because another thread or process may write at the
// same time. A copy, made word by word, may mix several states; its reader must detect that.
using SharedWord = std::atomic<uint64_t>;
static_assert(sizeof(SharedWord) == sizeof(uint64_t) && SharedWord::is_always_lock_free);

// A mapping, unmapped by the destructor. On Linux the memory is a memfd that is sealed from the
// start: its length never changes, so that no reader gets SIGBUS, and only its maker's mapping is
// writable. The kernel keeps all pages until every process has unmapped them. Elsewhere, and on
// Linux before 5.1, it belongs to this process alone. Thread: any; it does not move.
class SharedMemory {
 public:
  ~SharedMemory();
  SharedMemory& operator=(SharedMemory&&) = delete;

  // Makes zeroed memory that this process can write. `bytes` must be a multiple of 8, above 0.
  // Returns nullptr if memory or descriptors are short.
  [[nodiscard]] static std::shared_ptr<SharedMemory> Create(size_t bytes);
  // Maps memory of another process for reading. Returns nullptr unless `fd` is a sealed memfd of
  // ordinary pages with a length from 8 to `bytes_max` that is a multiple of 8. The caller keeps
  // `fd`. The contents can be anything, at any time.
  [[nodiscard]] static std::shared_ptr<const SharedMemory> Map(int fd, size_t bytes_max);

  // The descriptor for other processes; -1 = the memory is another process', or cannot be shared.
  int fd() const { return pages_.fd; }
  size_t bytes() const { return pages_.bytes; }
  const SharedWord* words() const { return static_cast<const SharedWord*>(pages_.memory); }
  // Writable words; only valid for memory that Create() has made.
  SharedWord* words() { return static_cast<SharedWord*>(pages_.memory); }

 private:
  explicit SharedMemory(const SharedPages& pages) : pages_(pages) {}

  const SharedPages pages_;
};

}  // namespace httpsys::cache
