#pragma once
// A seeded hash of texts that clients choose.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace httpsys {

inline constexpr uint64_t kHashMultiplier = 0x9e3779b97f4a7c15u;

namespace seeded_hash {

template <typename Word>
uint64_t Load(const char* bytes) {
  Word value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Loads up to 8 bytes into a number that differs for any two texts of the same size. Overlapping
// loads are used because copying an unknown number of bytes would be a function call.
inline uint64_t LoadUpTo8(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.size() >= 4) return Load<uint32_t>(begin) << 32 | Load<uint32_t>(end - 4);
  if (text.size() >= 2) return Load<uint16_t>(begin) << 16 | Load<uint16_t>(end - 2);
  return text.empty() ? 0 : Load<uint8_t>(begin);
}

inline uint64_t Mix(uint64_t state, uint64_t value) {
  state = (state ^ value) * kHashMultiplier;
  return state ^ state >> 29;
}

}  // namespace seeded_hash

// Hashes a text. Clients do not know the seed, so they cannot choose colliding texts. For a text of
// several parts, pass the hash of one part as the seed of the next. Not for secrets; where a
// collision would do harm, compare the texts, too. Thread: any.
inline uint64_t HashText(std::string_view text, uint64_t seed) {
  uint64_t state = seed ^ text.size() * kHashMultiplier;
  if (text.size() < 8) {
    state = seeded_hash::Mix(state, seeded_hash::LoadUpTo8(text));
    return state ^ state >> 32;
  }
  // If the size is no multiple of 8, the last load overlaps the one before it.
  const char* const last = text.data() + text.size() - 8;
  for (const char* at = text.data(); at < last; at += 8) {
    state = seeded_hash::Mix(state, seeded_hash::Load<uint64_t>(at));
  }
  state = seeded_hash::Mix(state, seeded_hash::Load<uint64_t>(last));
  return state ^ state >> 32;
}

}  // namespace httpsys
