#pragma once
// Decodes the chunked transfer coding of RFC 9112, section 7.1, as strictly as Node's llhttp.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "http1/field_scanner.h"
#include "http1/header_line.h"
#include "http1/parse_error.h"

namespace httpsys::http1 {

// Names and values of the extensions of one chunk. Node's limit, which nobody can change:
// extensions are of no use here, and without a limit a peer could send them for ever.
inline constexpr size_t kChunkExtensionBytesMax = 16 * 1024;

enum class DecodeStatus : uint8_t { kNeedMore, kBody, kEnd, kError };

// Resumable state machine that keeps no more than a partial trailer section (bounded by
// `trailer_bytes_max`, counted as in a head). Thread: any, one at a time.
class ChunkedDecoder {
 public:
  struct Step {
    DecodeStatus status;
    size_t consumed_bytes;  // Of the input, always <= input.size().
    std::string_view body;  // Points into the input; dies with it.
  };

  ChunkedDecoder() = default;
  ChunkedDecoder(ChunkedDecoder&&) = default;
  ChunkedDecoder& operator=(ChunkedDecoder&&) = default;

  // Must precede the first Next().
  void Reset(size_t trailer_bytes_max, size_t trailer_lines_max = kAnyLines);

  // Looks at `input` and takes one step. Call again with what is left until kNeedMore.
  // After kEnd or kError: Reset() first.
  [[nodiscard]] Step Next(std::string_view input);

  // After kEnd: trailer lines; views into memory of this decoder, valid until Reset().
  const std::vector<HeaderLine>& trailers() const { return trailers_; }
  // After kEnd: a trailer line says `Connection: close`. Node reads no further message then.
  bool closes_connection() const { return fields_.connection().close; }
  ParseError error() const { return error_; }

 private:
  enum class State : uint8_t {
    kSizeStart,
    kSize,
    kExtensionStart,
    kExtensionName,
    kExtensionValue,
    kQuoted,
    kQuotedPair,
    kQuotedEnd,
    kSizeLineFeed,
    kData,
    kDataCarriageReturn,
    kDataLineFeed,
    kTrailers,
    kEnd,
  };

  // One byte outside data and trailers.
  ParseError Take(char c);
  ParseError TakeSize(char c);
  ParseError TakeExtension(char c);
  ParseError TakeQuoted(char c);
  ParseError EndSizeLine(char c, ParseError otherwise);
  ParseError CountExtension();
  Step TakeData(std::string_view input, size_t position);
  Step TakeTrailers(std::string_view input, size_t position);

  std::vector<HeaderLine> trailers_;
  std::vector<char> trailer_text_;  // Not a string: views into it must survive a move.
  FieldScanner fields_;
  uint64_t chunk_bytes_left_ = 0;
  size_t extension_bytes_ = 0;
  size_t trailer_bytes_max_ = 0;
  State state_ = State::kSizeStart;
  ParseError error_ = ParseError::kNone;
};

}  // namespace httpsys::http1
