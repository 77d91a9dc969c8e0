#include "cache/arena_reader.h"

#include <utility>

namespace httpsys::cache {

ArenaReader::ArenaReader(std::shared_ptr<const SharedMemory> index, const ArenaShape& shape,
                         uint64_t seed)
    : index_(std::move(index)),
      memories_(shape.chunks_max),
      chunks_(shape.chunks_max),
      view_{shape, index_->words(), chunks_},
      seed_(seed) {}

std::unique_ptr<ArenaReader> ArenaReader::Open(std::shared_ptr<const SharedMemory> index) {
  if (index == nullptr || index->bytes() < ArenaShape::kSerialsAt * sizeof(uint64_t)) {
    return nullptr;
  }
  const auto read = [&index](size_t at) {
    return index->words()[at].load(std::memory_order_acquire);
  };
  const uint64_t segment_bytes = read(ArenaShape::kSegmentBytesAt);
  const uint64_t chunks = read(ArenaShape::kChunksAt);
  const uint64_t buckets = read(ArenaShape::kBucketsAt);
  if (read(ArenaShape::kMagicAt) != kArenaMagic || segment_bytes > kSegmentBytesMax ||
      chunks > kChunksMax || buckets > kBucketsMax) {
    return nullptr;
  }
  const ArenaShape shape{static_cast<uint32_t>(segment_bytes), static_cast<uint32_t>(chunks),
                         static_cast<uint32_t>(buckets)};
  if (!shape.is_valid() || index->bytes() != shape.index_bytes()) return nullptr;
  const uint64_t seed = read(ArenaShape::kSeedAt);
  return std::unique_ptr<ArenaReader>(new ArenaReader(std::move(index), shape, seed));
}

bool ArenaReader::SetChunk(uint32_t chunk, uint64_t serial,
                           std::shared_ptr<const SharedMemory> memory) {
  if (chunk >= view_.shape.chunks_max || memory == nullptr ||
      memory->bytes() != view_.shape.chunk_bytes()) {
    return false;
  }
  chunks_[chunk] = {memory->words(), serial};
  memories_[chunk] = std::move(memory);
  return true;
}

void ArenaReader::ForgetChunk(uint32_t chunk) {
  if (chunk >= view_.shape.chunks_max) return;
  chunks_[chunk] = {};
  memories_[chunk].reset();
}

FindResult ArenaReader::Find(std::string_view key, uint64_t hash, CopyBuffer* buffer,
                             FoundEntry* found) const {
  EveryStep steps;
  return FindEntry(view_, key, hash, buffer, found, &steps);
}

}  // namespace httpsys::cache
