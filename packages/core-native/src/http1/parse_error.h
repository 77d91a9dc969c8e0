#pragma once
// Why a message was refused. Names follow llhttp's HPE_* codes, which is what Node users know.

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

// Returns "HPE_INVALID_METHOD" and so on.
const char* ParseErrorCode(ParseError error);

}  // namespace httpsys::http1
