#pragma once
// Sequences and sorted lists whose copies share unchanged chunks.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace httpsys {

// A sequence of chunks that copies share, so that copying a large table for each change is cheap.
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

// Items are sorted by their member `kKey`. A copy, and a change of it, cost a pointer per chunk and
// the items of one or two chunks. Threads: see SharedChunks.
template <typename Item, auto kKey>
class SortedChunks {
 public:
  static constexpr size_t kChunkMax = 64;
  // Maximum number of items that few() returns: a loop over so few is faster than a search.
  static constexpr size_t kFewMax = 4;

  // A place in the list, valid until the list changes.
  struct Position {
    size_t chunk = 0;
    size_t index = 0;
  };

  bool empty() const { return chunks_.size() == 0; }
  bool has_one() const { return chunks_.size() == 1 && chunks_[0].size() == 1; }
  size_t chunk_count() const { return chunks_.size(); }
  // Returns all items in order if there are at most kFewMax; otherwise an empty span.
  std::span<const Item> few() const {
    if (chunks_.size() != 1 || chunks_[0].size() > kFewMax) return {};
    return chunks_[0];
  }
  Position begin() const { return {}; }
  // Returns the item at a position; nullptr at the end.
  const Item* At(Position at) const {
    return at.chunk == chunks_.size() ? nullptr : &chunks_[at.chunk][at.index];
  }
  // Returns the position of the first item, searching from `from` on, whose key is not below `key`.
  template <typename Key>
  Position LowerBound(const Key& key, Position from = {}) const {
    const auto is_below = [&](const Item& item) { return item.*kKey < key; };
    size_t first = from.chunk;
    // The last chunk is always searched, so its key is not compared here.
    size_t last = chunks_.size() == 0 ? 0 : chunks_.size() - 1;
    while (first < last) {
      const size_t middle = first + (last - first) / 2;
      if (is_below(chunks_[middle].back())) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    if (first >= chunks_.size()) return {chunks_.size(), 0};
    const Chunk& chunk = chunks_[first];
    const auto begin =
        chunk.begin() + static_cast<std::ptrdiff_t>(first == from.chunk ? from.index : 0);
    const auto found = std::partition_point(begin, chunk.end(), is_below);
    if (found == chunk.end()) return {first + 1, 0};
    return {first, static_cast<size_t>(found - chunk.begin())};
  }
  // Returns the item with this key, or nullptr.
  template <typename Key>
  const Item* Find(const Key& key) const {
    if (has_one()) return chunks_[0][0].*kKey == key ? &chunks_[0][0] : nullptr;
    const Item* found = At(LowerBound(key));
    return found == nullptr || found->*kKey != key ? nullptr : found;
  }
  template <typename Use>
  void ForEach(const Use& use) const {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      for (const Item& item : chunks_[i]) use(item);
    }
  }

  // Returns an item, in a chunk that no copy shares, for changes that do not affect its key.
  Item& Edit(Position at) { return chunks_.Edit(at.chunk)[at.index]; }
  // Inserts an item before the result of LowerBound() for its key. Returns the item.
  Item& Insert(Position at, Item item) {
    if (chunks_.size() == 0) chunks_.Insert(0);
    // An item above all others goes to the end of the last chunk.
    if (at.chunk == chunks_.size()) at = {at.chunk - 1, chunks_[at.chunk - 1].size()};
    Chunk* chunk = &chunks_.Edit(at.chunk);
    if (chunk->size() == kChunkMax) {
      at = Split(at);
      chunk = &chunks_.Edit(at.chunk);
    }
    return *chunk->insert(chunk->begin() + static_cast<std::ptrdiff_t>(at.index), std::move(item));
  }
  void Erase(Position at) {
    Chunk& chunk = chunks_.Edit(at.chunk);
    chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(at.index));
    if (chunk.empty()) {
      chunks_.Erase(at.chunk);
      return;
    }
    if (at.chunk + 1 < chunks_.size()) MergeWithNext(at.chunk);
    if (at.chunk > 0) MergeWithNext(at.chunk - 1);
  }

 private:
  using Chunk = std::vector<Item>;

  // Splits a full chunk. Returns the new place of the position. At the end of the list, the first
  // chunk stays full, because lists are often filled in order.
  Position Split(Position at) {
    const bool is_at_end = at.index == kChunkMax;
    const size_t kept = is_at_end ? kChunkMax : kChunkMax / 2;
    Chunk& next = chunks_.Insert(at.chunk + 1);
    Chunk& chunk = chunks_.Edit(at.chunk);
    const auto middle = chunk.begin() + static_cast<std::ptrdiff_t>(kept);
    next.assign(std::make_move_iterator(middle), std::make_move_iterator(chunk.end()));
    chunk.erase(middle, chunk.end());
    return at.index < kept ? at : Position{at.chunk + 1, at.index - kept};
  }

  // Merges neighbours that fill at most half a chunk, so that removals do not leave many small
  // ones.
  void MergeWithNext(size_t index) {
    const Chunk& next = chunks_[index + 1];
    if (chunks_[index].size() + next.size() > kChunkMax / 2) return;
    Chunk& chunk = chunks_.Edit(index);
    chunk.insert(chunk.end(), next.begin(), next.end());
    chunks_.Erase(index + 1);
  }

  SharedChunks<Chunk> chunks_;
};

}  // namespace httpsys
