#pragma once
// Why a client's frames were refused: the error codes of `ws`. Each line names code and close code.

#include <cstdint>

namespace httpsys::websocket {

// The numbers are sent in records: never change one, only append.
enum class ReadError : uint8_t {
  kNone = 0,
  kUnexpectedRsv23 = 1,  // WS_ERR_UNEXPECTED_RSV_2_3, 1002
  kUnexpectedRsv1 = 2,   // WS_ERR_UNEXPECTED_RSV_1, 1002
  kInvalidOpcode = 3,    // WS_ERR_INVALID_OPCODE, 1002; detail: the opcode
  kExpectedFin = 4,      // WS_ERR_EXPECTED_FIN, 1002
  // WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH, 1002; detail: 7 length bits
  kInvalidControlPayloadLength = 5,
  kExpectedMask = 6,  // WS_ERR_EXPECTED_MASK, 1002
  kUnsupportedDataPayloadLength =
      7,                          // WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH, 1009 (2^53 and more)
  kUnsupportedMessageLength = 8,  // WS_ERR_UNSUPPORTED_MESSAGE_LENGTH, 1009 (max_payload)
  kTooManyFragments = 9,          // WS_ERR_TOO_MANY_BUFFERED_PARTS, 1008
  kTooManyChunks = 10,            // WS_ERR_TOO_MANY_BUFFERED_PARTS, 1008
  kInvalidUtf8 = 11,              // WS_ERR_INVALID_UTF8, 1007
  kInvalidCloseCode = 12,         // WS_ERR_INVALID_CLOSE_CODE, 1002; detail: the code
  kInflate = 13,                  // Z_DATA_ERROR and others of zlib, 1007; with zlib's message
};

// Returns the name in `ws`, such as "WS_ERR_INVALID_OPCODE"; for kInflate, that of `zlib_code`.
const char* ReadErrorCode(ReadError error, int zlib_code = -3);

// Returns the code of the close frame that answers the error.
uint16_t CloseCodeOf(ReadError error);

}  // namespace httpsys::websocket
