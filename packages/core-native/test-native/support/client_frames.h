#pragma once
// Frames as clients send them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::test {

inline constexpr uint8_t kFin = 0x80;
inline constexpr uint8_t kRsv1 = 0x40;

// A header with `length_bytes` (0, 2 or 8) of extended length, which need not be the shortest, and
// the mask.
inline std::string ClientHeader(uint8_t first, uint64_t payload_bytes, size_t length_bytes,
                                std::string_view mask = "\x37\xfa\x21\x3d") {
  const size_t length = length_bytes == 0 ? payload_bytes : length_bytes == 2 ? 126 : 127;
  std::string header{static_cast<char>(first), static_cast<char>(0x80 | length)};
  for (size_t i = length_bytes; i-- > 0;) {
    header += static_cast<char>(payload_bytes >> (8 * i));
  }
  return header.append(mask);
}

inline std::string ClientFrame(uint8_t first, std::string_view payload,
                               std::string_view mask = "\x37\xfa\x21\x3d") {
  const size_t length_bytes = payload.size() < 126 ? 0 : payload.size() < 65536 ? 2 : 8;
  std::string frame = ClientHeader(first, payload.size(), length_bytes, mask);
  for (size_t i = 0; i < payload.size(); i++) {
    frame += static_cast<char>(payload[i] ^ mask[i % mask.size()]);
  }
  return frame;
}

}  // namespace httpsys::test
