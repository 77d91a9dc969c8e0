#include "websocket/frame.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define HTTPSYS_HAS_WIDE_UNMASK
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace httpsys::websocket {
namespace {

constexpr size_t kBlockWords = 8;

// AVX2 registers are twice as wide as the ones that every x86-64 processor has.
#ifdef HTTPSYS_HAS_WIDE_UNMASK
constexpr size_t kWideBytes = 32;
constexpr size_t kWideBlockBytes = 4 * kWideBytes;
#endif

void StoreBigEndian(char* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    out[i] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
  }
}

void XorWord(char* at, uint64_t key) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  word ^= key;
  std::memcpy(at, &word, sizeof word);
}

#ifdef HTTPSYS_HAS_WIDE_UNMASK
// Returns true if the processor has AVX2 and the system saves its registers. Does not use
// __builtin_cpu_supports(), because some compilers' runtime libraries lack the data for it. (Intel,
// Software Developer's Manual, volume 1, 14.7.1.)
[[gnu::target("xsave")]] bool HasAvx2() {
  constexpr uint64_t kSavesWideRegisters = 0x6;  // XMM and YMM.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  if ((_xgetbv(0) & kSavesWideRegisters) != kSavesWideRegisters) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
}

// Unmasks whole blocks. Returns the number of bytes in them.
[[gnu::target("avx2")]] size_t UnmaskBlocks(char* data, size_t size, uint64_t key) {
  const __m256i keys = _mm256_set1_epi64x(static_cast<int64_t>(key));
  const size_t bytes = size - size % kWideBlockBytes;
  for (size_t i = 0; i < bytes; i += kWideBlockBytes) {
#pragma GCC unroll 4
    for (size_t j = 0; j < kWideBlockBytes; j += kWideBytes) {
      auto* at = reinterpret_cast<__m256i*>(data + i + j);
      _mm256_storeu_si256(at, _mm256_xor_si256(_mm256_loadu_si256(at), keys));
    }
  }
  return bytes;
}
#endif

}  // namespace

size_t WriteFrameHeader(char* out, Opcode opcode, bool is_final, bool is_compressed,
                        uint64_t payload_bytes) {
  out[0] = static_cast<char>((is_final ? 0x80 : 0) | (is_compressed ? 0x40 : 0) |
                             static_cast<uint8_t>(opcode));
  if (payload_bytes < 126) {
    out[1] = static_cast<char>(payload_bytes);
    return 2;
  }
  if (payload_bytes < 65536) {
    out[1] = 126;
    StoreBigEndian(out + 2, payload_bytes, 2);
    return 4;
  }
  out[1] = 127;
  StoreBigEndian(out + 2, payload_bytes, 8);
  return 10;
}

size_t WriteControlFrame(char* out, Opcode opcode, std::string_view payload) {
  payload = payload.substr(0, kControlBytesMax);
  const size_t header_bytes = WriteFrameHeader(out, opcode, true, false, payload.size());
  if (!payload.empty()) std::memcpy(out + header_bytes, payload.data(), payload.size());
  return header_bytes + payload.size();
}

size_t WriteCloseFrame(char* out, uint16_t code, std::string_view reason) {
  if (code == kNoStatus) return WriteControlFrame(out, Opcode::kClose, {});
  char payload[kControlBytesMax];
  const size_t reason_bytes = std::min(reason.size(), kReasonBytesMax);
  StoreBigEndian(payload, code, 2);
  if (reason_bytes > 0) std::memcpy(payload + 2, reason.data(), reason_bytes);
  return WriteControlFrame(out, Opcode::kClose, {payload, 2 + reason_bytes});
}

bool IsCloseCode(uint32_t code) {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code != 1004 && code != kNoStatus &&
         code != kAbnormalClosure;
}

void Unmask(char* data, size_t size, const uint8_t (&mask)[kMaskBytes], uint64_t phase) {
  uint8_t turned[8];
  for (size_t i = 0; i < sizeof turned; i++) turned[i] = mask[(phase + i) % kMaskBytes];
  uint64_t key;
  std::memcpy(&key, turned, sizeof key);
#ifdef HTTPSYS_HAS_WIDE_UNMASK
  static const bool is_wide = HasAvx2();
  if (is_wide && size >= kWideBlockBytes) {
    const size_t done = UnmaskBlocks(data, size, key);
    data += done;
    size -= done;
  }
#endif
  while (size >= kBlockWords * sizeof key) {
    // With a constant number of words, the compiler uses the widest registers.
    for (size_t i = 0; i < kBlockWords; i++) XorWord(data + i * sizeof key, key);
    data += kBlockWords * sizeof key;
    size -= kBlockWords * sizeof key;
  }
  for (; size >= sizeof key; size -= sizeof key, data += sizeof key) XorWord(data, key);
  for (size_t i = 0; i < size; i++) data[i] = static_cast<char>(data[i] ^ turned[i]);
}

}  // namespace httpsys::websocket
