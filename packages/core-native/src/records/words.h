#pragma once
// Records are 32-bit words in host byte order within byte memory.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "records/records.h"

namespace httpsys {

inline uint32_t LoadWord(const uint8_t* record, size_t index) {
  uint32_t value;
  std::memcpy(&value, record + index * 4, sizeof value);
  return value;
}

inline void StoreWord(uint8_t* record, size_t index, uint32_t value) {
  std::memcpy(record + index * 4, &value, sizeof value);
}

inline constexpr size_t AlignRecord(size_t bytes) {
  return (bytes + records::kAlignBytes - 1) & ~(records::kAlignBytes - 1);
}

inline void StoreHeader(uint8_t* record, size_t bytes, records::RequestType type, uint32_t flags,
                        uint32_t slot) {
  StoreWord(record, 0, static_cast<uint32_t>(bytes));
  StoreWord(record, 1, static_cast<uint32_t>(type) | flags << 8);
  StoreWord(record, 2, slot);
  StoreWord(record, 3, 0);
}

}  // namespace httpsys
