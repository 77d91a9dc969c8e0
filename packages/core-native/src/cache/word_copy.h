#pragma once
// Copies between private memory and shared words, each by one relaxed atomic access: a copy of
// memory that another thread is writing is wrong, but no undefined behaviour.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/shared_memory.h"

namespace httpsys::cache {

inline void LoadWords(const SharedWord* from, size_t count, uint8_t* to) {
  const auto load = [&](size_t at) {
    const uint64_t word = from[at].load(std::memory_order_relaxed);
    std::memcpy(to + at * sizeof word, &word, sizeof word);
  };
  size_t at = 0;
  // Unrolled by hand: compilers do not unroll loops over atomic accesses.
  for (; at + 8 <= count; at += 8) {
    load(at);
    load(at + 1);
    load(at + 2);
    load(at + 3);
    load(at + 4);
    load(at + 5);
    load(at + 6);
    load(at + 7);
  }
  if ((count & 4) != 0) {
    load(at);
    load(at + 1);
    load(at + 2);
    load(at + 3);
    at += 4;
  }
  if ((count & 2) != 0) {
    load(at);
    load(at + 1);
    at += 2;
  }
  if ((count & 1) != 0) load(at);
}

// Copies bytes to shared words, and pads the last word with zeros. Returns the number of words.
inline size_t StoreBytes(const void* from, size_t bytes, SharedWord* to) {
  const auto* const begin = static_cast<const uint8_t*>(from);
  size_t count = 0;
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, begin + at, std::min(bytes - at, sizeof word));
    to[count++].store(word, std::memory_order_relaxed);
  }
  return count;
}

inline void CopyWords(const SharedWord* from, size_t count, SharedWord* to) {
  for (size_t i = 0; i < count; ++i) {
    to[i].store(from[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

}  // namespace httpsys::cache
