#include "http1/parse_error.h"

namespace httpsys::http1 {

const char* ParseErrorCode(ParseError error) {
  switch (error) {
    case ParseError::kNone:
      return "HPE_OK";
    case ParseError::kInvalidMethod:
      return "HPE_INVALID_METHOD";
    case ParseError::kInvalidUrl:
      return "HPE_INVALID_URL";
    case ParseError::kInvalidConstant:
      return "HPE_INVALID_CONSTANT";
    case ParseError::kInvalidVersion:
      return "HPE_INVALID_VERSION";
    case ParseError::kInvalidHeaderToken:
      return "HPE_INVALID_HEADER_TOKEN";
    case ParseError::kInvalidContentLength:
      return "HPE_INVALID_CONTENT_LENGTH";
    case ParseError::kUnexpectedContentLength:
      return "HPE_UNEXPECTED_CONTENT_LENGTH";
    case ParseError::kInvalidTransferEncoding:
      return "HPE_INVALID_TRANSFER_ENCODING";
    case ParseError::kInvalidChunkSize:
      return "HPE_INVALID_CHUNK_SIZE";
    case ParseError::kInvalidEofState:
      return "HPE_INVALID_EOF_STATE";
    case ParseError::kCrExpected:
      return "HPE_CR_EXPECTED";
    case ParseError::kLfExpected:
      return "HPE_LF_EXPECTED";
    case ParseError::kStrict:
      return "HPE_STRICT";
    case ParseError::kUnexpectedSpace:
      return "HPE_UNEXPECTED_SPACE";
    case ParseError::kHeaderOverflow:
      return "HPE_HEADER_OVERFLOW";
    case ParseError::kChunkExtensionsOverflow:
      return "HPE_CHUNK_EXTENSIONS_OVERFLOW";
  }
  return "HPE_INTERNAL";
}

}  // namespace httpsys::http1
