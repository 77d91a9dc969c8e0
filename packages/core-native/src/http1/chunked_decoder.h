#pragma once
// Decodes the chunked transfer coding of RFC 9112, section 7.1, as strictly as Node's llhttp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http1/field_scanner.h"
#include "http1/header_line.h"
#include "http1/parse_error.h"

namespace httpsys::http1 {

// Maximum bytes of names and values in the extensions of one chunk; Node has the same fixed limit.
// Extensions are ignored, and without a limit a client could send them endlessly.
inline constexpr size_t kChunkExtensionBytesMax = 16 * 1024;

enum class DecodeStatus : uint8_t { kNeedMore, kBody, kEnd, kError };

// A resumable state machine. Keeps at most a partial trailer section (limited to
// `trailer_bytes_max`, counted as in a head). Thread: any, one at a time.
class ChunkedDecoder {
 public:
  struct Step {
    DecodeStatus status;
    size_t consumed_bytes;  // The number of input bytes that were used.
    std::string_view body;  // A view into the input.
  };

  ChunkedDecoder() = default;
  ChunkedDecoder(ChunkedDecoder&&) = default;
  ChunkedDecoder& operator=(ChunkedDecoder&&) = default;

  // Prepares for a body. Must be called before the first Next().
  void Reset(size_t trailer_bytes_max, size_t trailer_lines_max = kAnyLines);

  // Takes one step. Must be called again with the rest of the input until it returns kNeedMore.
  // After kEnd or kError, Reset() must be called before the next step.
  [[nodiscard]] Step Next(std::string_view input);

  // The trailer lines, after kEnd. Views into memory of this decoder, valid until Reset().
  const std::vector<HeaderLine>& trailers() const { return trailers_; }
  // After kEnd: true if a trailer line says `Connection: close`; Node then reads no more messages.
  bool closes_connection() const { return fields_.connection().close; }
  ParseError error() const { return error_; }
  // Returns the shortest body that brings another decoder to the same state; after kError, to the
  // state before the wrong byte, or before the trailers.
  std::string Position() const;
  // The part of the trailers that has arrived.
  std::string_view trailer_text() const { return {trailer_text_.data(), trailer_text_.size()}; }

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

  // Reads one byte outside of data and trailers.
  ParseError Take(char c);
  ParseError TakeSize(char c);
  ParseError TakeExtension(char c);
  ParseError TakeQuoted(char c);
  ParseError EndSizeLine(char c, ParseError otherwise);
  ParseError CountExtension();
  Step TakeData(std::string_view input, size_t position);
  Step TakeTrailers(std::string_view input, size_t position);

  std::vector<HeaderLine> trailers_;
  // A vector: unlike a short string, it keeps views valid when the decoder is moved.
  std::vector<char> trailer_text_;
  FieldScanner fields_;
  uint64_t chunk_bytes_left_ = 0;
  size_t extension_bytes_ = 0;
  size_t trailer_bytes_max_ = 0;
  State state_ = State::kSizeStart;
  ParseError error_ = ParseError::kNone;
};

}  // namespace httpsys::http1
