#include "websocket/read_error.h"

#include <cstddef>

namespace httpsys::websocket {
namespace {

struct Row {
  const char* code;
  uint16_t close_code;
};

constexpr Row kRows[] = {
    {"", 1000},
    {"WS_ERR_UNEXPECTED_RSV_2_3", 1002},
    {"WS_ERR_UNEXPECTED_RSV_1", 1002},
    {"WS_ERR_INVALID_OPCODE", 1002},
    {"WS_ERR_EXPECTED_FIN", 1002},
    {"WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH", 1002},
    {"WS_ERR_EXPECTED_MASK", 1002},
    {"WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH", 1009},
    {"WS_ERR_UNSUPPORTED_MESSAGE_LENGTH", 1009},
    {"WS_ERR_TOO_MANY_BUFFERED_PARTS", 1008},
    {"WS_ERR_TOO_MANY_BUFFERED_PARTS", 1008},
    {"WS_ERR_INVALID_UTF8", 1007},
    {"WS_ERR_INVALID_CLOSE_CODE", 1002},
    {"Z_DATA_ERROR", 1007},
};
static_assert(sizeof kRows / sizeof kRows[0] == static_cast<size_t>(ReadError::kInflate) + 1);

// Names of zlib's negative codes, starting with -1.
constexpr const char* kZlibCodes[] = {"Z_ERRNO",     "Z_STREAM_ERROR", "Z_DATA_ERROR",
                                      "Z_MEM_ERROR", "Z_BUF_ERROR",    "Z_VERSION_ERROR"};

}  // namespace

const char* ReadErrorCode(ReadError error, int zlib_code) {
  if (error == ReadError::kInflate && zlib_code < 0 && zlib_code >= -6) {
    return kZlibCodes[-zlib_code - 1];
  }
  return kRows[static_cast<size_t>(error)].code;
}

uint16_t CloseCodeOf(ReadError error) { return kRows[static_cast<size_t>(error)].close_code; }

}  // namespace httpsys::websocket
