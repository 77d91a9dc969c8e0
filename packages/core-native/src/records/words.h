#pragma once
// Reads and writes the fields of records: 32-bit words in host byte order within byte memory.

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

template <records::Field kField>
constexpr uint32_t PartOf(uint32_t word) {
  if constexpr (kField.bits == 32) {
    return word;
  } else {
    return word >> kField.shift & ((1u << kField.bits) - 1);
  }
}

// Returns a word in which only this field is set. A value that is too large is truncated.
template <records::Field kField>
constexpr uint32_t Part(uint32_t value) {
  static_assert(kField.bits < 32);
  return (value & ((1u << kField.bits) - 1)) << kField.shift;
}

template <records::Field kField>
uint32_t LoadField(const uint8_t* record) {
  return PartOf<kField>(LoadWord(record, kField.word));
}

template <records::Field kField>
void StoreField(uint8_t* record, uint32_t value) {
  static_assert(kField.bits == 32, "its word has other fields");
  StoreWord(record, kField.word, value);
}

inline constexpr size_t AlignRecord(size_t bytes) {
  return (bytes + records::kAlignBytes - 1) & ~(records::kAlignBytes - 1);
}

inline void StoreHeader(uint8_t* record, size_t bytes, records::RequestType type, uint32_t flags,
                        uint32_t slot) {
  StoreField<records::kRecordBytes>(record, static_cast<uint32_t>(bytes));
  StoreWord(
      record, records::kRecordType.word,
      Part<records::kRecordType>(static_cast<uint32_t>(type)) | Part<records::kRecordFlags>(flags));
  StoreField<records::kRecordSlot>(record, slot);
  StoreField<records::kRecordExtra>(record, 0);
}

}  // namespace httpsys
