#pragma once
// Frames of RFC 6455, section 5.2: headers, masks, close payloads. Stateless. Thread: any.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::websocket {

enum class Opcode : uint8_t {
  kContinuation = 0x0,
  kText = 0x1,
  kBinary = 0x2,
  kClose = 0x8,
  kPing = 0x9,
  kPong = 0xa,
};

inline constexpr bool IsControl(Opcode opcode) { return (static_cast<uint8_t>(opcode) & 0x8) != 0; }

inline constexpr size_t kMaskBytes = 4;
// Longest header of a frame from a server: it has no mask.
inline constexpr size_t kServerHeaderBytesMax = 10;
inline constexpr size_t kClientHeaderBytesMax = kServerHeaderBytesMax + kMaskBytes;
// Longest payload of a control frame, and longest reason in a close frame.
inline constexpr size_t kControlBytesMax = 125;
inline constexpr size_t kReasonBytesMax = kControlBytesMax - 2;

// Codes that a close event reports, and that are never sent: for a close frame without a code, and
// for a connection that ends without a close frame.
inline constexpr uint16_t kNoStatus = 1005;
inline constexpr uint16_t kAbnormalClosure = 1006;

// Writes an unmasked frame's header to `out` of kServerHeaderBytesMax bytes. Returns its length.
size_t WriteFrameHeader(char* out, Opcode opcode, bool is_final, bool is_compressed,
                        uint64_t payload_bytes);

// Writes a whole control frame to `out`, which must have room for 2 + kControlBytesMax. A payload
// beyond kControlBytesMax is truncated. Returns the length of the frame.
size_t WriteControlFrame(char* out, Opcode opcode, std::string_view payload);
// Writes a whole close frame; with kNoStatus, without a payload. A reason beyond kReasonBytesMax is
// truncated: callers should check it earlier, when they can report it. Returns the frame's length.
size_t WriteCloseFrame(char* out, uint16_t code, std::string_view reason);

// Returns true for codes that a close frame may have.
bool IsCloseCode(uint32_t code);

// Applies or removes a mask in place. `phase` is the number of payload bytes before `data`.
void Unmask(char* data, size_t size, const uint8_t (&mask)[kMaskBytes], uint64_t phase);

}  // namespace httpsys::websocket
