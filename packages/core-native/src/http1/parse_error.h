#pragma once
// Why a message was refused. The names follow llhttp's HPE_* codes, which Node's users know.

#include <cstdint>

namespace httpsys::http1 {

enum class ParseError : uint8_t {
  kNone,
  kInvalidMethod,
  kInvalidUrl,
  kInvalidConstant,
  kInvalidVersion,
  kInvalidHeaderToken,
  kInvalidContentLength,
  kUnexpectedContentLength,
  kInvalidTransferEncoding,
  kInvalidChunkSize,
  kInvalidEofState,
  kCrExpected,
  kLfExpected,
  kStrict,
  kUnexpectedSpace,
  kHeaderOverflow,
  kChunkExtensionsOverflow,
};

// Returns the name of an error in llhttp, such as "HPE_INVALID_METHOD".
const char* ParseErrorCode(ParseError error);

}  // namespace httpsys::http1
