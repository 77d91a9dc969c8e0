#pragma once
// Memory of one message, in malloc's own: large ones grow by moving pages, none is zeroed first,
// and whoever takes it over frees it with free().

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::websocket {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ~ByteBuffer();
  ByteBuffer(ByteBuffer&& other) noexcept;
  ByteBuffer& operator=(ByteBuffer&& other) noexcept;

  char* data() { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }

  // Room for `bytes` more in one piece behind size(). Grows at least by half, so that appending
  // stays linear, but not beyond `size_max` in all unless `bytes` need it.
  char* Reserve(size_t bytes, size_t size_max = SIZE_MAX);
  // After writing into what Reserve() gave.
  void Grow(size_t bytes) { size_ += bytes; }
  void Shrink(size_t bytes) { size_ -= bytes; }
  // `bytes` may be empty, and may not lie in this buffer.
  void Append(std::string_view bytes, size_t size_max = SIZE_MAX);
  // Gives memory beyond size() back.
  void Fit();
  // Memory from malloc() for it to begin with, `capacity` bytes; what it had is freed.
  void Adopt(char* memory, size_t capacity);
  // Keeps the memory.
  void Clear() { size_ = 0; }
  // Frees it.
  void Reset();
  // The caller frees it with free(). nullptr when nothing was ever reserved.
  [[nodiscard]] char* Release();

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace httpsys::websocket
