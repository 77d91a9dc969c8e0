#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cache/arena_find.h"
#include "cache/arena_layout.h"
#include "cache/shared_memory.h"

namespace httpsys::cache {

// Reads the arena of this process or of another one. Whatever the memory contains, the reader does
// not read outside of it, wait, or fail: in the worst case it returns an entry that a hostile
// writer has made up. The reader keeps the memory mapped. Thread: one lane.
class ArenaReader {
 public:
  // Opens an index: a SharedMemory::Map(fd, kIndexBytesMax), or ArenaWriter::index() of this
  // process. Returns nullptr if the memory is no valid index.
  [[nodiscard]] static std::unique_ptr<ArenaReader> Open(std::shared_ptr<const SharedMemory> index);

  const ArenaShape& shape() const { return view_.shape; }
  // The seed of the hashes of keys.
  uint64_t seed() const { return seed_; }

  // Sets the memory of the chunk with this number. `serial` is the number that the writer has given
  // to this memory. Returns false if the chunk's number or size does not fit the arena.
  bool SetChunk(uint32_t chunk, uint64_t serial, std::shared_ptr<const SharedMemory> memory);
  // Unmaps a chunk, so that the kernel can free its memory.
  void ForgetChunk(uint32_t chunk);

  // Looks for an entry. `hash` is HashText(key, seed()). With kHit, `found` views `buffer`.
  FindResult Find(std::string_view key, uint64_t hash, CopyBuffer* buffer, FoundEntry* found) const;

  const ArenaView& view() const { return view_; }

 private:
  ArenaReader(std::shared_ptr<const SharedMemory> index, const ArenaShape& shape, uint64_t seed);

  std::shared_ptr<const SharedMemory> index_;
  std::vector<std::shared_ptr<const SharedMemory>> memories_;
  std::vector<ArenaView::Chunk> chunks_;
  ArenaView view_;
  uint64_t seed_;
};

}  // namespace httpsys::cache
