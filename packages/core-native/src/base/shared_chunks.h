#pragma once
// A sequence of chunks that copies share, so that copying a large table for each change is cheap.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace httpsys {

// A copy shares all chunks with its origin, and costs a pointer per chunk. Whichever of the two
// changes a chunk first copies that chunk. Threads: all changes and copies must be made on one
// thread at a time; other threads may read objects that are complete.
template <typename Chunk>
class SharedChunks {
 public:
  SharedChunks() = default;
  ~SharedChunks() = default;
  SharedChunks(const SharedChunks& other)
      : chunks_(other.chunks_), is_own_(other.chunks_.size(), false) {
    other.is_own_ = is_own_;
  }
  SharedChunks& operator=(const SharedChunks& other) {
    if (this == &other) return *this;
    chunks_ = other.chunks_;
    is_own_.assign(chunks_.size(), false);
    other.is_own_ = is_own_;
    return *this;
  }
  SharedChunks(SharedChunks&&) noexcept = default;
  SharedChunks& operator=(SharedChunks&&) noexcept = default;

  size_t size() const { return chunks_.size(); }
  const Chunk& operator[](size_t index) const { return *chunks_[index]; }
  // Returns a chunk that may be changed; copies it first if another object shares it.
  Chunk& Edit(size_t index) {
    if (!is_own_[index]) {
      chunks_[index] = std::make_shared<Chunk>(*chunks_[index]);
      is_own_[index] = true;
    }
    return *chunks_[index];
  }
  // Inserts an empty chunk before `index`, and returns it.
  Chunk& Insert(size_t index) {
    const auto at = static_cast<std::ptrdiff_t>(index);
    chunks_.insert(chunks_.begin() + at, std::make_shared<Chunk>());
    is_own_.insert(is_own_.begin() + at, true);
    return *chunks_[index];
  }
  void Erase(size_t index) {
    const auto at = static_cast<std::ptrdiff_t>(index);
    chunks_.erase(chunks_.begin() + at);
    is_own_.erase(is_own_.begin() + at);
  }

 private:
  std::vector<std::shared_ptr<Chunk>> chunks_;
  // True for chunks that no other object shares. Mutable: copying changes the origin's flags.
  mutable std::vector<bool> is_own_;
};

}  // namespace httpsys
