#pragma once
// The memory of one message, from malloc(): large blocks grow by remapping pages, new memory is not
// zeroed, and a new owner of the memory can free it with free().

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

  // Returns contiguous room for `bytes` more behind size(). Grows at least by half, so that the
  // cost of appending stays linear, but not beyond `size_max` in total unless `bytes` require it.
  char* Reserve(size_t bytes, size_t size_max = SIZE_MAX);
  // Adds bytes to size() that the caller has written into the room of Reserve().
  void Grow(size_t bytes) { size_ += bytes; }
  void Shrink(size_t bytes) { size_ -= bytes; }
  // Appends a copy. `bytes` may be empty, and must not be a part of this buffer.
  void Append(std::string_view bytes, size_t size_max = SIZE_MAX);
  // Frees the memory beyond size().
  void Fit();
  // Takes over memory from malloc() as an empty buffer. Frees its previous memory.
  void Adopt(char* memory, size_t capacity);
  void Clear() { size_ = 0; }
  void Reset();
  // Gives the memory to the caller, who must free() it; nullptr = nothing was ever reserved.
  [[nodiscard]] char* Release();

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace httpsys::websocket
