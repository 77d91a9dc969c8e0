#pragma once
// Parses the HTTP/1.1 text that an application has written: heads, body, trailers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http1/header_line.h"

namespace httpsys::http2 {

struct ResponseHead {
  int status = 0;
  std::vector<http1::HeaderLine> lines;
  bool has_length = false;
  bool is_chunked = false;
  uint64_t content_length = 0;
};

// Parses a head with its blank line; the views point into `text`. Returns false if it is malformed.
bool ParseResponseHead(std::string_view text, ResponseHead* head);
// Parses lines up to a blank line or the end of the text. Returns false if a line is malformed.
bool ParseTrailers(std::string_view text, std::vector<http1::HeaderLine>* lines);

// Reads the text in pieces of any size. Applications are trusted not to attack, but may make
// mistakes: malformed text fails, and memory is limited. Thread: any, one at a time.
class ResponseText {
 public:
  enum class Kind : uint8_t {
    kNeedMore,  // All bytes were used.
    kHead,      // `bytes` is a head: parse it, then call one of the Begin…() functions.
    kBody,      // `bytes` is a piece of body.
    kTrailers,  // `bytes` are the lines after the last chunk; the body is complete.
    kFailed,
  };
  struct Step {
    Kind kind = Kind::kNeedMore;
    size_t used = 0;
    std::string_view bytes;  // A view into the input, or into this object until the next call.
  };

  Step Next(std::string_view input);

  // -- After a head.

  void BeginHead() { phase_ = Phase::kHead; }  // Expects another head after an interim one.
  void BeginNothing() { phase_ = Phase::kDone; }
  void BeginLength(uint64_t bytes) {
    phase_ = bytes == 0 ? Phase::kDone : Phase::kLength;
    left_ = bytes;
  }
  void BeginChunks() { phase_ = Phase::kChunkSize; }
  void BeginUntilEnd() { phase_ = Phase::kUntilEnd; }

  // True if the application may write body bytes without framing: chunked, or until the end.
  bool takes_unframed() const { return phase_ == Phase::kChunkSize || phase_ == Phase::kUntilEnd; }
  bool is_before_head() const { return phase_ == Phase::kHead; }
  // True if the next `bytes` bytes are body.
  bool IsNextBody(size_t bytes) const {
    return phase_ == Phase::kUntilEnd ||
           ((phase_ == Phase::kLength || phase_ == Phase::kChunkData) && left_ >= bytes);
  }
  // Skips bytes of the body that Next() does not get. IsNextBody() must be true for them.
  void SkipBody(size_t bytes);
  bool is_done() const { return phase_ == Phase::kDone; }
  bool is_until_end() const { return phase_ == Phase::kUntilEnd; }
  // True if the message would be complete if the text ended here.
  bool is_whole() const { return phase_ == Phase::kDone || phase_ == Phase::kUntilEnd; }

 private:
  enum class Phase : uint8_t {
    kHead,
    kLength,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailers,
    kUntilEnd,
    kDone,  // Further bytes are dropped, as HTTP/1.1 clients do.
    kFailed,
  };

  Step Fail();
  Step ReadSection(std::string_view input, Kind kind);
  Step ReadCounted(std::string_view input, Phase next);
  Step ReadChunkSize(std::string_view input);
  Step ReadChunkEnd(std::string_view input);

  Phase phase_ = Phase::kHead;
  bool is_kept_used_ = false;  // True if Next() has returned kept_.
  uint64_t left_ = 0;
  std::string kept_;  // The beginning of an incomplete head, trailer section or line.
};

}  // namespace httpsys::http2
