#pragma once
// Decodes the chunked transfer coding of RFC 9112, section 7.1, as strictly as Node's llhttp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http1/parse_error.h"
#include "http1/request_parser.h"

namespace httpsys::http1 {

enum class DecodeStatus : uint8_t { kNeedMore, kBody, kEnd, kError };

// Resumable state machine that keeps no more than a partial trailer section (bounded by
// `trailer_bytes_max`). Chunk extensions are bounded by Node's 16 KiB. Thread: any, one at a time.
class ChunkedDecoder {
 public:
  struct Step {
    DecodeStatus status;
    size_t consumed_bytes;  // Of the input, always <= input.size().
    std::string_view body;  // Points into the input; dies with it.
  };

  void Reset(size_t trailer_bytes_max);

  // Looks at `input` and takes one step. Call again with what is left until kNeedMore.
  // After kEnd or kError: Reset() first.
  [[nodiscard]] Step Next(std::string_view input);

  // After kEnd: trailer lines; views into memory of this decoder, valid until Reset().
  const std::vector<HeaderLine>& trailers() const { return trailers_; }
  ParseError error() const { return error_; }

 private:
  std::vector<HeaderLine> trailers_;
  ParseError error_ = ParseError::kNone;
};

}  // namespace httpsys::http1
