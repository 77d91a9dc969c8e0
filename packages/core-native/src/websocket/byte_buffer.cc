#include "websocket/byte_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace httpsys::websocket {

ByteBuffer::~ByteBuffer() { std::free(data_); }

ByteBuffer::ByteBuffer(ByteBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

ByteBuffer& ByteBuffer::operator=(ByteBuffer&& other) noexcept {
  if (this == &other) return *this;
  std::free(data_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

char* ByteBuffer::Reserve(size_t bytes, size_t size_max) {
  const size_t needed = size_ + bytes;
  if (needed > capacity_) {
    const size_t grown = std::max(needed, std::min(capacity_ + capacity_ / 2, size_max));
    auto* memory = static_cast<char*>(std::realloc(data_, grown));
    HTTPSYS_CHECK(memory != nullptr);
    data_ = memory;
    capacity_ = grown;
  }
  return data_ + size_;
}

void ByteBuffer::Append(std::string_view bytes, size_t size_max) {
  if (bytes.empty()) return;
  std::memcpy(Reserve(bytes.size(), size_max), bytes.data(), bytes.size());
  size_ += bytes.size();
}

void ByteBuffer::Fit() {
  if (size_ == capacity_) return;
  if (size_ == 0) return Reset();
  auto* memory = static_cast<char*>(std::realloc(data_, size_));
  if (memory == nullptr) return;
  data_ = memory;
  capacity_ = size_;
}

void ByteBuffer::Adopt(char* memory, size_t capacity) {
  Reset();
  data_ = memory;
  capacity_ = capacity;
}

void ByteBuffer::Reset() { *this = ByteBuffer(); }

char* ByteBuffer::Release() {
  size_ = 0;
  capacity_ = 0;
  return std::exchange(data_, nullptr);
}

}  // namespace httpsys::websocket
